# SPDX-License-Identifier: MIT
# What peer_capnp.cc calls.
@0x9c1f4e6b7d2a8350;

interface EchoPeer {
  echo @0 (bytes :Data) -> (bytes :Data);
}
