"""What of the library is no operator of PyTorch's, or not in every way, with reasons: the only list of these."""

from __future__ import annotations

_SERVICE = "it computes nothing on tensors"
_MAKES = "PyTorch makes and moves its tensors itself"
_NUMBERS = "it gives numbers of Python's, and operators give tensors"
_FUNCTION = "it takes a function, and PyTorch's schemas have no type for one"
_NESTED = "it takes lists in lists, and PyTorch's schemas have no type for these"

#: Public functions that are no operators.
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        ("cache_info", "catalogue", "clear_cache", "get_num_threads", "profile", "record", "set_num_threads", "synchronize"),
        _SERVICE,
    ),
    **dict.fromkeys(("asarray", "to_device", "to_host"), _MAKES),
    **dict.fromkeys(("item", "numel", "shape"), _NUMBERS),
    **dict.fromkeys(("flex_attention", "flex_attention_backward", "fuse", "mask_indices", "multi_tensor_apply"), _FUNCTION),
    **dict.fromkeys(("block", "block_backward", "dot_general", "dot_general_backward"), _NESTED),
    **dict.fromkeys(
        ("index_put", "index_put_backward"), "its indices are tensors, slices and numbers at once; index_get and scatter_nd serve"
    ),
    "multi_head_attention_backward": "it takes what the forward pass returned as an object of Python's",
}
#: Functions whose saved results are no tensors.
NO_SAVED = frozenset(["multi_head_attention"])
#: Functions that write to an argument, by its name: their operators return nothing.
WRITES = {"kv_cache_append": "cache"}
#: Of functions that are written out, the names of results as their gradients call them: those of an option last.
RESULT_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "attention_alibi", "attention_sink", "attention_softcap", "decode_attention", "scaled_dot_product_attention",
            "sliding_window_attention", "varlen_attention",
        ),
        ("y", "lse"),
    ),
    **dict.fromkeys(
        (
            *(f"{kind}max_pool{rank}d" for kind in ("", "adaptive_", "fractional_") for rank in (1, 2, 3)),
            "global_max_pool", "sort", "topk", "kthvalue", "mode", "approx_topk",
        ),
        ("y", "indices"),
    ),
    **dict.fromkeys(("cdist", "pdist", "segment_softmax"), ("y",)),
    "moving_avg_observer": ("y", "running_min", "running_max", "scale", "zero_point"),
    "sync_batch_norm": ("y", "mean", "rstd", "count"),
    **dict.fromkeys(("rnn", "gru"), ("y", "h_n")),
    "lstm": ("y", "h_n", "c_n"),
    "slstm": ("y", "h_n", "c_n", "n_n", "m_n"),
}  # fmt: skip
