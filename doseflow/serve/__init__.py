"""
Engines that run trained nets, and the bundles that the nets come in.

Takes the folder of a bundle, gives an engine that has answered the bundle's golden inputs as it should. It knows no
policy and no forecaster, trains nothing, and loads no training library.
"""
