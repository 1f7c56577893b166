"""The encoder that only computes what is read, against the plain dilated causal convolution."""

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from doseflow.networks.sequence_encoders import (  # noqa: E402
    TAPS,
    ConvolutionEncoder,
    LstmEncoder,
    encoder_of,
    latest_of,
)


def plain(encoder, recent):
    """All periods of every layer by dilated convolution with the same weights; the latest is returned."""
    rows = encoder.enter(recent).transpose(1, 2)
    for level, layer in enumerate(encoder.layers):
        width = layer.out_features
        # Rows of the matrix are (tap, channel); a convolution's weight is (out, channel, tap).
        weight = layer.weight.reshape(width, TAPS, -1).transpose(1, 2)
        padded = functional.pad(rows, ((TAPS - 1) * 2**level, 0))
        rows = rows + functional.gelu(functional.conv1d(padded, weight, layer.bias, dilation=2**level))
    return rows[..., -1]


@pytest.mark.parametrize("length", range(5, 41))
def test_it_is_the_dilated_causal_convolution_at_the_latest_period(length):
    torch.manual_seed(length)
    encoder = ConvolutionEncoder(channels=4, width=8).double()
    recent = torch.randn(3, length, 4, dtype=torch.float64)
    torch.testing.assert_close(encoder(recent), plain(encoder, recent), rtol=1e-10, atol=1e-10)


def test_all_of_the_last_two_hours_is_seen():
    torch.manual_seed(0)
    encoder = ConvolutionEncoder(channels=2, width=8)
    recent = torch.randn(1, 24, 2, requires_grad=True)
    encoder(recent).sum().backward()
    assert (recent.grad.abs().sum(dim=-1) > 0).all()


@pytest.mark.parametrize(("name", "kind"), [("convolution", ConvolutionEncoder), ("lstm", LstmEncoder)])
def test_an_encoder_has_its_name_and_reads_each_site_for_itself(name, kind):
    torch.manual_seed(0)
    encoder = encoder_of(name, channels=4, width=8)
    assert isinstance(encoder, kind)
    recent = torch.randn(2, 3, 24, 4)
    rows = latest_of(encoder, recent)
    assert rows.shape == (2, 3, 8)
    torch.testing.assert_close(rows[1, 2], encoder(recent[1, 2:3])[0])


def test_another_encoder_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="encoder: must be one of convolution, lstm, got 'gru'"):
        encoder_of("gru", 4, 8)
