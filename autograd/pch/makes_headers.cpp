// Empty: the library of this source makes the precompiled header that other libraries use (autograd/meson.build).
