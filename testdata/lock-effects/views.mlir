// RUN: --lock-effects
// Readers of a view of state come before the next write (H15), chains of views included.
"neap.var"() {sym_name = "x", type = tensor<24xf32>} : () -> ()
func.func @late_consumer(%new: tensor<24xf32>) -> tensor<4x6xf32> {
  %v = "neap.read"() {alias, var = @x} : () -> tensor<24xf32>
  %w = "tfl.reshape"(%v) : (tensor<24xf32>) -> tensor<4x6xf32>
  %y = "tfl.relu"(%w) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  "neap.write"(%new) {var = @x} : (tensor<24xf32>) -> ()
  %z = "tfl.neg"(%y) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}

// The listed order has a reader after the write: the write moves behind it (H14), and what waits for the write with it.
func.func @moves(%new: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
  %r = "neap.read"() {alias, var = @x} : () -> tensor<24xf32>
  "neap.write"(%new) {var = @x} : (tensor<24xf32>) -> ()
  %s = "neap.read"() {var = @x} : () -> tensor<24xf32>
  %y = "tfl.add"(%r, %new) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  return %y, %s : tensor<24xf32>, tensor<24xf32>
}

// The reader after the write depends on it: the view becomes a copy.
func.func @copies(%new: tensor<24xf32>) -> tensor<24xf32> {
  %r = "neap.read"() {alias, var = @x} : () -> tensor<24xf32>
  "neap.write"(%new) {var = @x} : (tensor<24xf32>) -> ()
  %s = "neap.read"() {var = @x} : () -> tensor<24xf32>
  %y = "tfl.add"(%r, %s) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// Nothing can move behind the end of the function.
func.func @returned(%new: tensor<24xf32>) -> tensor<24xf32> {
  %r = "neap.read"() {alias, var = @x} : () -> tensor<24xf32>
  "neap.write"(%new) {var = @x} : (tensor<24xf32>) -> ()
  return %r : tensor<24xf32>
}

// A copy is read whenever one likes; so is the view of a variable that is written elsewhere.
func.func @copy_not(%new: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
  %r = "neap.read"() {var = @x} : () -> tensor<24xf32>
  %o = "neap.read"() {alias, var = @o} : () -> tensor<24xf32>
  "neap.write"(%new) {var = @x} : (tensor<24xf32>) -> ()
  %y = "tfl.neg"(%r) : (tensor<24xf32>) -> tensor<24xf32>
  %z = "tfl.neg"(%o) : (tensor<24xf32>) -> tensor<24xf32>
  return %y, %z : tensor<24xf32>, tensor<24xf32>
}
