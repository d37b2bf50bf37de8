// What is read has been defined before, here or around.

func.func @f(%x: i32) -> i32 {
  %a = "t.a"(%x) : (i32) -> i32
  "t.body"() ({
    %b = "t.b"(%a, %x) : (i32, i32) -> i32
    "t.body"() ({
      "t.c"(%b, %a) : (i32, i32) -> ()
    }) : () -> ()
  }) : () -> ()
  return %a : i32
}
// The order has no meaning in the body of a module.
"t.use"(%later) : (i32) -> ()
%later = "t.def"() : () -> i32

// -----

func.func @branches(%c: i1) -> i32 {
  %top = "t.a"() : () -> i32
  "t.cond_br"(%c)[^left, ^right] : (i1) -> ()
^left:
  %l = "t.l"(%top) : (i32) -> i32
  "t.br"(%l)[^join] : (i32) -> ()
^right:
  "t.br"(%top)[^join] : (i32) -> ()
^join(%j: i32):
  %s = "t.s"(%j, %top) : (i32, i32) -> i32
  return %s : i32
}

// -----

// A block that is never reached may read anything.
func.func @unreachable() {
  return
^dead:
  "t.use"(%later) : (i32) -> ()
  %later = "t.def"() : () -> i32
  return
}

// -----

func.func @f() {
  // expected-error @below {{`%later` does not dominate this use}}
  "t.use"(%later) : (i32) -> ()
  // expected-note @below {{`%later` is defined here}}
  %later = "t.def"() : () -> i32
  // expected-error @below {{`%self` does not dominate this use}}
  %self = "t.self"(%self) : (i32) -> i32
  return
}

// -----

func.func @branches(%c: i1) {
  "t.cond_br"(%c)[^left, ^right] : (i1) -> ()
^left:
  %l = "t.l"() : () -> i32
  "t.br"()[^join] : () -> ()
^right:
  "t.br"()[^join] : () -> ()
^join:
  // expected-error @below {{`%l` does not dominate this use}}
  "t.use"(%l) : (i32) -> ()
  return
}

// -----

// The same outside a function.
"t.holder"() ({
  // expected-error @below {{`%a` does not dominate this use}}
  "t.use"(%a) : (i32) -> ()
  %a = "t.def"() : () -> i32
  %r = "t.body"() ({
    // expected-error @below {{`%r` does not dominate this use}}
    "t.use"(%r) : (i32) -> ()
  }) : () -> i32
}) : () -> ()

// -----

func.func @sideways() {
  "t.body"() ({
    // expected-error @below {{`%b` is not visible here}}
    "t.use"(%b) : (i32) -> ()
  }, {
    %b = "t.def"() : () -> i32
  }) : () -> ()
  return
}

// -----

// A loop: the header dominates the body, not the other way round.
func.func @loop(%c: i1) {
  "t.br"()[^head] : () -> ()
^head:
  // expected-error @below {{`%b` does not dominate this use}}
  %h = "t.h"(%b) : (i32) -> i32
  "t.cond_br"(%c)[^body, ^exit] : (i1) -> ()
^body:
  %b = "t.b"(%h) : (i32) -> i32
  "t.br"()[^head] : () -> ()
^exit:
  "t.use"(%h) : (i32) -> ()
  return
}
