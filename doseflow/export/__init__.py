"""Export: a trained net becomes an ONNX file, with golden inputs and outputs that every engine is held to."""
