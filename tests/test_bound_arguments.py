"""Bound arguments are values: compared by their problem, read from keys, written as JSON."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import torch
import tunedops
from conftest import CPU
from sample_inputs import DTYPES, OPS, samples
from torch import Tensor, randn
from tunedops import _C, BoundArguments, NotTunableError, TensorSpec, bound_args_from_json
from tunedops.bound_json import write_list

X, W, BIAS = randn(4, 64), randn(32, 64), randn(32)
LAYER = tunedops.linear.bind(X, W, BIAS, "relu")


def bound_samples() -> list[BoundArguments]:
    """Of every op, every type and every layout that can be tuned."""
    found = []
    for op in OPS:
        for dtype in DTYPES:
            for sample in samples(op, dtype):
                try:
                    found.append(OPS[op].bind(*sample.args, **sample.kwargs))
                except NotTunableError:
                    continue
    return found


def on_gpu(bound: BoundArguments) -> BoundArguments:
    """The same call for a GPU."""
    arguments = bound.arguments
    out = {"out": arguments.pop("out")} if "out" in arguments else {}
    return OPS[bound.op].bind(**arguments, **out, device="cuda:2")  # type: ignore[arg-type]


def test_what_was_bound_can_be_asked() -> None:
    assert LAYER.op == "linear"
    assert LAYER.device == torch.device("cpu")
    assert LAYER.key == ("GemmAndBiasTunableOp_float_TN", LAYER.key[1])
    assert LAYER.arguments == {
        "input": TensorSpec.of(X),
        "weight": TensorSpec.of(W),
        "bias": TensorSpec.of(BIAS),
        "activation": "relu",
    }
    text = "linear(input=float32[4, 64], weight=float32[32, 64], bias=float32[32]"
    assert str(LAYER) == f"{text}, activation='relu')"
    assert repr(LAYER) == f"<BoundArguments {LAYER} on cpu: {','.join(LAYER.key)}>"


def test_the_same_problem_is_equal_whoever_calls() -> None:
    others = [
        tunedops.linear.bind(X.view(2, 2, 64), W, BIAS, "relu"),
        BoundArguments.from_key(*LAYER.key),
        BoundArguments.from_json(LAYER.to_json()),
        pickle.loads(pickle.dumps(LAYER)),
    ]
    assert set(others) == {LAYER}
    assert tunedops.mm.bind(X, W.t()) == tunedops.linear.bind(X, W)
    different = [
        tunedops.linear.bind(X, W, BIAS),
        tunedops.linear.bind(X, W, BIAS, "relu", device="cuda:0"),
        tunedops.linear.bind(X, W, BIAS, "relu", device="cuda:1"),
    ]
    assert len({LAYER, *different}) == 4
    assert LAYER.key != LAYER


def test_nothing_can_be_changed() -> None:
    with pytest.raises(AttributeError):
        LAYER.op = "mm"  # type: ignore[misc]
    LAYER.arguments.clear()
    assert LAYER.arguments
    with pytest.raises(AttributeError):
        TensorSpec((2,), torch.float32).shape = (3,)  # type: ignore[misc]


def test_a_key_s_own_call_has_that_key() -> None:
    for bound in bound_samples():
        for each in (bound, on_gpu(bound)):
            plain = BoundArguments.from_key(*each.key, each.device)
            assert plain == each
            if plain.op not in OPS:
                continue
            device = each.device if each.device.type == "cuda" else None
            again = OPS[plain.op].bind(**plain.arguments, device=device)  # type: ignore[arg-type]
            assert again.key == each.key, plain


def test_json_there_and_back() -> None:
    for bound in bound_samples():
        for each in (bound, on_gpu(bound), BoundArguments.from_key(*bound.key)):
            again = BoundArguments.from_json(each.to_json())
            assert again == each
            assert repr(again) == repr(each)
            assert again.arguments == each.arguments
            assert again.from_call == each.from_call


@pytest.mark.parametrize(
    "row",
    [
        "GemmTunableOp_BFloat16_TN,tn_4096_1_4096_ld_4096_4096_4096_fullprec_ws_64",
        "GemmTunableOp_Half_NN,nn_8_4_8_ld_8_8_8_out_float_accum16",
        "GemmAndBiasTunableOp_Half_NT,nt_8_4_8_ld_8_4_8_bias_float_align_2_4_8_4",
        "GemmStridedBatchedTunableOp_tf32_TT,tt_8_4_8_B_3_ld_9_5_10_stride_0_50_90_beta_any_det",
        "GemmTunableOp_BFloat16_TN,tn_8_4_8_ld_8_8_8_epi_gelu_tanh_alpha_any_beta_one_nosplitk",
    ],
)
def test_rare_keys_of_gpus(row: str) -> None:
    bound = BoundArguments.from_key(*row.split(","), device="cuda")
    assert ",".join(bound.key) == row
    assert BoundArguments.from_json(bound.to_json()) == bound
    shapes = [v.shape for v in bound.arguments.values() if isinstance(v, TensorSpec)]
    assert all(shapes)


def test_keys_that_are_none() -> None:
    for op, params, words in (
        ("GemmTunableOp_float_NN", "nn_8_4_8_ld_7_8_8", "is no product of cuda .*<lda>"),
        ("Nonsense", "nn", "is no product of cuda"),
    ):
        with pytest.raises(ValueError, match=words):
            BoundArguments.from_key(op, params, "cuda")
    with pytest.raises(ValueError, match="is no product of cpu"):
        BoundArguments.from_key("GemmTunableOp_float_NN", "nn_8_4_8_ld_8_8_8")  # of a GPU
    with pytest.raises(TypeError, match="params must be a str, got int"):
        BoundArguments.from_key("GemmTunableOp_float_NN", 3)  # type: ignore[arg-type]


def changed(text: str, **changes: object) -> str:
    return json.dumps(json.loads(text) | changes)


ONE = LAYER.to_json()
LIST = write_list([(LAYER, {"count": 3}), (tunedops.mm.bind(X, W.t()), {})], ["a note"])
BAD = {
    "cut off": (LIST[:-30], "expected JSON, got text that is none"),
    "nested": ('{"a":' + "[" * 100000, "expected JSON, got text that is none"),
    "another document": (
        '{"a": 1}',
        "expected a document of the format 'tunedops",
    ),
    "version": (changed(LIST, version=2), "expected version 1 of the format, got 2; another rel"),
    "no list": (changed(LIST, problems=3), "expected a list 'problems', got a number"),
    "empty": (changed(LIST, problems=[]), "the list holds no problems"),
    "no problem": (changed(LIST, problems=[{}]), "problem 1: expected a 'key' of two strings"),
    "wrong key": (
        changed(LIST, problems=[{"key": ["a", "b"], "device": "cpu"}]),
        "problem 1: 'a,b' is no product of cpu",
    ),
    "device": (changed(ONE, device="mps"), "device must be cpu, cuda or meta, got 'mps'"),
    "no device": (changed(ONE, device=None), "device must be a str such as"),
    "other arguments": (
        ONE.replace("[4, 64]", "[5, 64]"),
        "its arguments and its key 'GemmAndBias.*' are not the same problem",
    ),
    "no arguments": (changed(ONE, arguments={}), "its arguments of linear lack 'input'"),
    "op": (
        changed(ONE, op="conv"),
        "expected 'arguments' of an op by name, got an object of 'c",
    ),
    "unknown argument": (ONE.replace('"bias"', '"biases"'), "have 'biases', which it has not"),
    "no shape": (ONE.replace('"shape": [4, 64]', '"sizes": 3'), "expected a 'shape' of 'input'"),
    "text for a number": (ONE.replace("[4, 64]", '["4", 64]'), "bound_args_from_json: "),
    "dtype": (ONE.replace('"float32"', '"Tensor"'), "expected the name of a dtype"),
    "huge": (ONE.replace("[4, 64]", f"[{1 << 70}, 64]"), "bound_args_from_json: "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_json_is_one_clear_error(name: str) -> None:
    text, words = BAD[name]
    with pytest.raises(ValueError, match=words) as caught:
        bound_args_from_json(text)
    assert "\n" not in str(caught.value)


def test_lists_by_path_and_as_text(tmp_path: Path) -> None:
    path = tmp_path / "bound_args.json"
    path.write_text(LIST)
    wanted = (LAYER, tunedops.mm.bind(X, W.t()))
    assert bound_args_from_json(LIST) == wanted
    assert bound_args_from_json(path) == wanted
    assert bound_args_from_json(str(path)) == wanted
    assert bound_args_from_json(ONE) == (LAYER,)
    assert bound_args_from_json(write_list([(LAYER, {}), (LAYER, {})])) == (LAYER,)
    path.write_text("op,params\n")
    with pytest.raises(ValueError, match=r"bound_args.json: expected JSON, got"):
        bound_args_from_json(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r":1: is not text in UTF-8"):
        bound_args_from_json(path)
    with pytest.raises(FileNotFoundError):
        bound_args_from_json(tmp_path / "none.json")
    with pytest.raises(TypeError, match="source must be a str or a path of one, got int"):
        bound_args_from_json(3)  # type: ignore[arg-type]


def test_a_list_can_be_tuned(tmp_path: Path) -> None:
    path = tmp_path / "bound_args.json"
    on_a_gpu = tunedops.mm.bind(X, W.t(), device="cuda")
    path.write_text(write_list([(LAYER, {}), (on_a_gpu, {})]))
    with pytest.warns(UserWarning, match="1 product left out, which is of cuda and not of cpu"):
        tunedops.tune_gemm_in_file(path)
    assert [(r.op, r.params) for r in tunedops.get_results()] == [LAYER.key]
    assert _C.stored(CPU, *LAYER.key) is not None


def test_specs_say_what_is_wrong_with_them() -> None:
    for words, arguments in {
        "strides must have one number for each of 2 dimensions": ((2, 3), torch.float32, (1,)),
        "shape must not be negative, got -1": ((-1, 3), torch.float32),
        "alignment must be 1, 2, 4, 8 or 16 bytes, got 3": ((2,), torch.float32, None, "cpu", 3),
        "device must be cpu, cuda or meta, got 'xpu'": ((2,), torch.float32, None, "xpu"),
    }.items():
        with pytest.raises(ValueError, match=words):
            TensorSpec(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"dtype must be a torch\.dtype, got str"):
        TensorSpec((2,), "float32")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected a torch.Tensor, got list"):
        TensorSpec.of([1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a strided tensor, got one of layout"):
        TensorSpec.of(X.to_sparse())


def test_specs_are_what_tensors_are() -> None:
    slice_of = randn(9, 9, dtype=torch.float64)[1:, 1:].t()
    spec = TensorSpec.of(slice_of)
    assert spec == TensorSpec((8, 8), torch.float64, (1, 9), "cpu", spec.alignment)
    address = slice_of.data_ptr()
    assert address % spec.alignment == 0
    assert spec.alignment == 16 or address % (2 * spec.alignment) != 0
    assert str(TensorSpec((8, 8), torch.float64, (1, 9), alignment=8)) == (
        "float64[8, 8] strides [1, 9] align 8"
    )
    contiguous: Tensor = torch.empty(2, 0, 3, 1)
    assert TensorSpec(contiguous.shape, torch.float32).strides == contiguous.stride()
    assert TensorSpec((2,), torch.float32, device="cuda").device == torch.device("cuda:0")
    assert TensorSpec((2,), torch.float32, device="cpu:0").device == torch.device("cpu")
