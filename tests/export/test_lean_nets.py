"""The lean forms say what the nets say, to rounding."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from export_samples import city_inputs  # noqa: E402

from doseflow.export.lean_arrival_net import LeanConvolutions  # noqa: E402
from doseflow.export.lean_net import lean_net  # noqa: E402
from doseflow.networks.arrival_net import ArrivalNet  # noqa: E402
from doseflow.networks.sequence_encoders import ConvolutionEncoder, LstmEncoder  # noqa: E402
from doseflow.networks.site_value_net import SiteValueNet  # noqa: E402
from doseflow.train.forecaster import ForecasterParams  # noqa: E402


def shaken(net):
    """The net in double precision, with weights that are not those of a beginning."""
    torch.manual_seed(7)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.1)
    return net.double().eval()


@pytest.mark.parametrize("encoder", ["convolution", "lstm"])
@pytest.mark.parametrize("layers", [0, 2])
def test_the_lean_arrival_net_is_the_same_function(encoder, layers):
    net = shaken(ArrivalNet(ForecasterParams(encoder=encoder, attention_layers=layers).shape()))
    lean = lean_net(net).double()
    assert type(lean) is not type(net)
    for seed, (replicas, sites) in enumerate(((1, 1), (3, 20), (2, 7))):
        arrays = city_inputs(seed, replicas, sites, net.shape)
        tensors = [torch.as_tensor(array) for array in arrays.values()]
        tensors = [one.double() if one.is_floating_point() else one for one in tensors]
        with torch.no_grad():
            for plain, other in zip(net(*tensors), lean(*tensors), strict=True):
                assert plain.shape == other.shape
                # Constants of the quantiles are kept in single precision.
                torch.testing.assert_close(other, plain, rtol=2e-5, atol=2e-5)


def test_the_lean_site_value_net_is_the_same_function():
    net = shaken(SiteValueNet(23, 5, width=16))
    features = torch.randn(40, 23, dtype=torch.float64) * 3
    with torch.no_grad():
        torch.testing.assert_close(lean_net(net)(features), net(features), rtol=1e-9, atol=1e-9)


def test_the_bias_before_the_first_period_is_not_that_of_the_others():
    encoder = shaken(ConvolutionEncoder(6, 8))
    lean = LeanConvolutions(encoder).double()
    recent = torch.zeros(1, 3, 24, 6, dtype=torch.float64)
    recent[0, 1, 0] = 5.0
    recent[0, 2, 23] = 5.0
    with torch.no_grad():
        torch.testing.assert_close(lean(recent)[0], encoder(recent[0]), rtol=1e-6, atol=1e-6)
    assert not np.allclose(lean.first_bias[0], lean.first_bias[1])
    np.testing.assert_array_equal(lean.first_bias[1], lean.first_bias[2])


@pytest.mark.parametrize(
    ("encoder", "periods", "fits"),
    [
        (ConvolutionEncoder(6, 8), 24, True),
        (ConvolutionEncoder(6, 8), 25, False),
        (ConvolutionEncoder(6, 8, num_layers=3), 24, False),
        (LstmEncoder(6, 8), 24, False),
    ],
)
def test_only_what_the_rewriting_was_made_for_is_rewritten(encoder, periods, fits):
    assert LeanConvolutions.fits(encoder, periods) == fits


def test_a_net_that_nobody_has_rewritten_stays_as_it_is():
    net = torch.nn.Linear(2, 2)
    assert lean_net(net) is net
