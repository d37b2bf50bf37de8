// RUN: --assign-offsets
// The bodies of an operation in no table may run at the same time and any number of times: what one holds meets nothing of the other.

func.func @two(%x: tensor<16xi8>) -> tensor<16xi8> {
  %k = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<16xi8>
  %r = "my.race"(%k) ({
    %a = "neap.opaque"(%k) : (tensor<16xi8>) -> tensor<16xi8>
    %b = "neap.opaque"(%a) : (tensor<16xi8>) -> tensor<16xi8>
    "my.done"(%b) : (tensor<16xi8>) -> ()
  }, {
    %c = "neap.opaque"(%k) : (tensor<16xi8>) -> tensor<16xi8>
    "my.done"(%c) : (tensor<16xi8>) -> ()
  }) : (tensor<16xi8>) -> tensor<16xi8>
  return %r : tensor<16xi8>
}

// Near miss: of an operation that says that one of its bodies runs, once, the two share bytes.

func.func @branch(%p: tensor<i1>, %x: tensor<16xi8>) -> tensor<16xi8> {
  %r = "neap.if"(%p) ({
    %a = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<16xi8>
    %b = "neap.opaque"(%a) : (tensor<16xi8>) -> tensor<16xi8>
    "neap.yield"(%b) : (tensor<16xi8>) -> ()
  }, {
    %c = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<16xi8>
    "neap.yield"(%c) : (tensor<16xi8>) -> ()
  }) : (tensor<i1>) -> tensor<16xi8>
  return %r : tensor<16xi8>
}
