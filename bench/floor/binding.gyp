{
  'targets': [
    {
      'target_name': 'floor',
      'sources': ['floor.cc'],
      'dependencies': ["<!(node -p \"require('node-addon-api').targets\"):node_addon_api"],
      'defines': ['NAPI_VERSION=8'],
    }
  ]
}
