"""The form of a net that engines are given."""

from __future__ import annotations

from torch import nn

from doseflow.export.lean_arrival_net import LeanArrivalNet
from doseflow.export.lean_site_value_net import LeanSiteValueNet
from doseflow.networks.arrival_net import ArrivalNet
from doseflow.networks.site_value_net import SiteValueNet


def lean_net(net: nn.Module) -> nn.Module:
    """The same function in fewer and cheaper operations; a net that nobody has rewritten stays as it is."""
    if isinstance(net, ArrivalNet):
        return LeanArrivalNet(net).eval()
    if isinstance(net, SiteValueNet):
        return LeanSiteValueNet(net).eval()
    return net
