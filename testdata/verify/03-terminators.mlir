// A block of a function ends in a return or a branch, and nothing follows.

func.func @straight() {
  return
}
func.func @branches(%c: i1) {
  "t.cond_br"(%c)[^a, ^b] : (i1) -> ()
^a:
  "t.br"()[^b] : () -> ()
^b:
  return
}

// -----

func.func @f() {
  // expected-error @below {{a block of a function must end in `func.return` or a branch}}
  "t.last"() : () -> ()
}

// -----

func.func @f() {
  // expected-error @below {{must be the last operation of its block}}
  return
  "t.after"() : () -> ()
  return
}

// -----

// expected-error @below {{this one is empty}}
func.func @f() {
  "t.br"()[^a] : () -> ()
^a:
}

// -----

func.func @f() {
^entry:
  // expected-error @below {{the first block of a region cannot be branched to}}
  "t.br"()[^entry] : () -> ()
}
