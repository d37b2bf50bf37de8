// Sizes come from types: 300, 4, 2, 0 and 600 bytes.
func.func @main(%a: tensor<600xui4>, %b: tensor<7xui4>, %c: tensor<5xi2>, %d: tensor<0xui4>, %e: tensor<600xui8>) {
  return
}
