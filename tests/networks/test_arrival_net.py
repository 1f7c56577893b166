"""ArrivalNet: what holds whatever its weights are, and whatever it is fed."""

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from net_samples import CANDIDATES, NEIGHBOURS, PERIODS, answer, make_inputs, make_net  # noqa: E402

from doseflow.domain.forecast import MEDIAN_IDX  # noqa: E402
from doseflow.networks.arrival_net import OPEN_CHANNEL, ArrivalNetShape, input_names, num_parameters  # noqa: E402

TOPOLOGY = ("neighbour_idx", "neighbour_travel", "neighbour_known")
seeds = st.integers(0, 2**31 - 1)


def same(got, expected):
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def differ(got, expected):
    return max(float((one - other).abs().max()) for one, other in zip(got, expected, strict=True))


@settings(max_examples=40)
@given(seeds, st.sampled_from([0.01, 0.3, 3.0]), st.sampled_from([1e-6, 0.1, 5.0, 1e3, 1e6]))
def test_quantiles_are_never_negative_and_never_fall_whatever_the_weights(seed, weight_scale, people):
    net = make_net(seed, weight_scale=weight_scale)
    for quantiles in answer(net, make_inputs(seed, people=people)):
        assert torch.isfinite(quantiles).all()
        assert (quantiles >= 0).all()
        assert (quantiles.diff(dim=-1) >= 0).all()


def test_shapes_are_those_of_the_forecast():
    arrivals, rest = answer(make_net(), make_inputs(replicas=3, sites=5))
    assert arrivals.shape == (3, 5, PERIODS, 5)
    assert rest.shape == (3, 5, 5)


@settings(max_examples=20)
@given(seeds)
def test_nobody_comes_in_closed_periods_and_somebody_in_open_ones(seed):
    inputs = make_inputs(seed)
    arrivals, _ = answer(make_net(seed, weight_scale=0.1), inputs)
    is_open = inputs["ahead"][..., OPEN_CHANNEL] > 0
    assert (arrivals[~is_open] == 0).all()
    assert (arrivals[is_open].amax(dim=-1) > 0).all()


@settings(max_examples=15)
@given(seeds)
def test_the_order_of_the_sites_does_not_matter(seed):
    net, inputs = make_net(seed, weight_scale=0.3), make_inputs(seed)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
    place = torch.argsort(order)
    moved = {name: one[order] if name in TOPOLOGY else one[:, order] for name, one in inputs.items()}
    moved["neighbour_idx"] = place[moved["neighbour_idx"]]
    same(answer(net, moved), [one[:, order] for one in answer(net, inputs)])


def padded(inputs, num_more, filled_with):
    """The same city in a larger bucket; what stands in the padding must not matter."""
    more = {}
    for name, one in inputs.items():
        axis = 0 if name in TOPOLOGY else 1
        size = list(one.shape)
        size[axis] = num_more
        more[name] = torch.cat([one, torch.full(size, filled_with).to(one.dtype)], dim=axis)
    more["site_mask"][:, -num_more:] = 0
    more["neighbour_known"][-num_more:] = 0
    more["neighbour_idx"][-num_more:] = 0
    return more


@pytest.mark.parametrize("filled_with", [0.0, 3.0])
def test_padding_changes_nothing_for_the_sites_that_are_there(filled_with):
    net, inputs = make_net(weight_scale=0.3), make_inputs()
    wide = answer(net, padded(inputs, 10, filled_with))
    same([one[:, :6] for one in wide], answer(net, inputs))
    assert all(torch.isfinite(one).all() for one in wide)


def test_replicas_do_not_see_each_other():
    net, inputs = make_net(weight_scale=0.3), make_inputs(replicas=3)
    for replica in range(3):
        alone = {name: one if name in TOPOLOGY else one[replica : replica + 1] for name, one in inputs.items()}
        same(answer(net, alone), [one[replica : replica + 1] for one in answer(net, inputs)])


def test_cities_with_other_neighbours_share_a_run_and_each_gets_what_it_would_get_alone():
    net, cities = make_net(weight_scale=0.3), [make_inputs(seed, replicas=1) for seed in (1, 2, 3)]
    for city in cities:
        city |= {name: city[name][None] for name in TOPOLOGY}
    together = {name: torch.cat([city[name] for city in cities]) for name in cities[0]}
    said = answer(net, together)
    for place, city in enumerate(cities):
        same([one[place : place + 1] for one in said], answer(net, city))
    assert differ(answer(net, together | {"neighbour_idx": together["neighbour_idx"].flip(0)}), said) > 1e-3


def test_what_stands_in_an_unknown_candidate_does_not_matter():
    net, inputs = make_net(weight_scale=0.3), make_inputs()
    inputs["candidates_known"][0, 0] = 0
    other = inputs | {"candidates": torch.where(inputs["candidates_known"] > 0, inputs["candidates"], 1e6)}
    same(answer(net, other), answer(net, inputs))
    known = inputs | {"candidates": 2 * inputs["candidates"]}
    assert differ(answer(net, known), answer(net, inputs)) > 0.1


def test_an_unknown_neighbour_does_not_matter_and_a_known_one_does():
    net, inputs = make_net(weight_scale=0.3), make_inputs()
    inputs["neighbour_idx"][0] = torch.tensor([1, 2, 3])
    inputs["neighbour_known"][0] = torch.tensor([1.0, 1.0, 0.0])
    far = inputs["neighbour_travel"].clone()
    far[0, 2] = 50.0
    other = inputs["neighbour_idx"].clone()
    other[0, 2] = 5
    same(answer(net, inputs | {"neighbour_idx": other, "neighbour_travel": far}), answer(net, inputs))
    other[0, 1] = 5
    assert differ(answer(net, inputs | {"neighbour_idx": other}), answer(net, inputs)) > 1e-3


def test_without_attention_sites_do_not_see_each_other_and_with_it_they_do():
    for layers, sees in ((0, False), (1, True)):
        net, inputs = make_net(weight_scale=0.3, attention_layers=layers), make_inputs()
        changed = inputs | {"recent": inputs["recent"].clone()}
        changed["recent"][:, 0] += 1
        got, expected = answer(net, changed), answer(net, inputs)
        others = differ([one[:, 1:] for one in got], [one[:, 1:] for one in expected])
        assert (others > 1e-4) is sees
        assert differ(got, expected) > 1e-3


@pytest.mark.parametrize("encoder", ["convolution", "lstm"])
def test_an_input_of_which_nothing_is_known_gives_finite_numbers(encoder):
    inputs = {name: torch.zeros_like(one) for name, one in make_inputs().items()}
    inputs["site_mask"] += 1
    inputs["ahead"][..., OPEN_CHANNEL] = 1
    for quantiles in answer(make_net(encoder=encoder), inputs):
        assert torch.isfinite(quantiles).all()
        assert (quantiles >= 0).all()


def test_a_bucket_without_any_site_gives_finite_numbers():
    inputs = make_inputs() | {"site_mask": torch.zeros(2, 6)}
    assert all(torch.isfinite(one).all() for one in answer(make_net(), inputs))


@settings(max_examples=10)
@given(seeds)
def test_untrained_it_is_near_the_mean_of_its_known_candidates(seed):
    inputs = make_inputs(seed, people=20.0)
    inputs["candidates"] += 10
    arrivals, rest = answer(make_net(seed, width=32), inputs)
    known, is_open = inputs["candidates_known"], inputs["ahead"][..., OPEN_CHANNEL] > 0
    mean = (known * inputs["candidates"]).sum(dim=-1) / known.sum(dim=-1).clamp(min=1)
    tells = is_open & (known.sum(dim=-1) > 0)
    ratio = arrivals[..., MEDIAN_IDX][tells] / mean[tells]
    assert float((ratio - 1).abs().max()) < 0.25
    assert float(ratio.mean()) == pytest.approx(1, abs=0.08)
    expected = inputs["rest_doses"] > 20
    rest_ratio = rest[..., MEDIAN_IDX][expected] / inputs["rest_doses"][expected]
    assert float((rest_ratio - 1).abs().max()) < 0.25


def test_the_lstm_variant_reads_the_order_of_the_periods():
    net, inputs = make_net(encoder="lstm", weight_scale=0.3), make_inputs()
    turned = inputs | {"recent": inputs["recent"].flip(dims=(2,))}
    assert differ(answer(net, turned), answer(net, inputs)) > 1e-3


@pytest.mark.parametrize("layers", [0, 2])
def test_every_weight_learns(layers):
    net, inputs = make_net(weight_scale=0.3, attention_layers=layers), make_inputs()
    arrivals, rest = net(*inputs.values())
    (arrivals.sum() + rest.sum()).backward()
    still = [name for name, one in net.named_parameters() if one.grad is None or not one.grad.abs().max() > 0]
    assert still == []
    assert num_parameters(net) == sum(one.numel() for one in net.parameters())


def test_inputs_are_given_in_the_order_of_their_names():
    assert tuple(make_inputs()) == tuple(input_names())
    assert NEIGHBOURS < 6
    assert CANDIDATES == 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"encoder": "gru"}, "encoder: must be one of convolution, lstm, got 'gru'"),
        ({"width": 18}, r"width: must be a multiple of heads \(4\), got 18"),
        ({"attention_layers": 9}, r"attention_layers: must lie in 0\.\.8, got 9"),
    ],
)
def test_sizes_that_cannot_be_are_refused_by_name(given, sentence):
    sizes = {"recent_channels": 1, "ahead_channels": 6, "site_features": 1, "candidates": 1, "quantile_levels": (0.5,)}
    with pytest.raises(ValueError, match=sentence):
        ArrivalNetShape(**(sizes | given))
