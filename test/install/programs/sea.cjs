// A single executable that brings the addon along as an asset. It is loaded from a file, so it is written to one.
const { mkdtempSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { getRawAsset } = require('node:sea')
const { createBalancer } = require('idlest')

const addon = join(mkdtempSync(join(tmpdir(), 'addon-')), 'idlest.node')
writeFileSync(addon, Buffer.from(getRawAsset('idlest.node')))
// Read when the first engine is chosen.
process.env.IDLEST_BINDING_PATH = addon
const { engine } = createBalancer({ nodes: ['a', 'b'], poll: false })
console.log(JSON.stringify({ engine }))
