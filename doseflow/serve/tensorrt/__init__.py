"""
Nets compiled by NVIDIA's TensorRT (10.12 or newer, or 11) or TensorRT for RTX (1.7 or newer).

Takes a bundle, gives a folder of engine files with a manifest, and an engine that runs them. Both libraries have the
same interface but for what `library.py` says; TensorRT for RTX builds on a machine without a card.
"""
