import pytest
from export_samples import exported_net


@pytest.fixture(scope="session", params=["convolution", "lstm"])
def exported(request):
    """Net, ONNX file and the example it was exported with, for every encoder."""
    return exported_net(request.param)
