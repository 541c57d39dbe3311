// The least that a call into C++ by Node-API can do: takes nothing, gives a small integer.
#include <napi.h>

static Napi::Value One(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), 1);
}

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("one", Napi::Function::New<One>(env, "one"));
  return exports;
}

NODE_API_MODULE(floor, Init)
