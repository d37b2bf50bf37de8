// Strings, characters and brackets that do not fit.
"t.a"() {a = "no end} : () -> ()
"t.b"() {a = "bad \q escape"} : () -> ()
"t.c"() {a = ü} : () -> ()
"t.d"() {a = #d.x<(]>} : () -> ()
"t.e"() {a = [1, 2,]} : () -> ()
"t.f"() ({
