import { fileURLToPath } from 'node:url'
import test from 'ava'
import { lockFiles, unpinned } from '../../.ci/audit/locks.mjs'
import { isPermissive, shipped, shippedFaults } from '../../.ci/audit/shipped.mjs'
import { temporaryFolder, write } from './folder.js'

const lock = {
  packages: {
    '': { dependencies: { a: '1' }, optionalDependencies: { o: '1' } },
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '2', c: '1' } },
    'node_modules/a/node_modules/b': { version: '2.0.0', license: 'ISC', dependencies: { c: '1' } },
    'node_modules/b': { version: '1.0.0', license: 'GPL-3.0', hasInstallScript: true },
    'node_modules/c': {
      version: '1.0.0',
      license: '(Apache-2.0 AND BSD-3-Clause)',
      dependencies: { a: '1' },
    },
    'node_modules/o': { version: '1.0.0', license: 'MIT' },
    'node_modules/tool': { version: '1.0.0', license: 'GPL-3.0' },
  },
}

test('what is shipped is what the dependencies need, each from where Node finds it', (t) => {
  t.deepEqual(shipped(lock), [
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
    'node_modules/o',
  ])
})

test('tools may have any licence', (t) => {
  t.deepEqual(shippedFaults(lock), [])
})

test('licences that ask for more than their text, and install scripts, are faults of what is shipped', (t) => {
  const { 'node_modules/a/node_modules/b': _, ...packages } = lock.packages
  t.deepEqual(shippedFaults({ packages }), [
    'node_modules/b 1.0.0 has the licence GPL-3.0',
    'node_modules/b 1.0.0 runs a script when it is installed',
  ])
})

test('one of several licences is enough where there is a choice, else all count', (t) => {
  t.true(isPermissive('(MIT OR GPL-3.0)'))
  t.true(isPermissive('0BSD'))
  t.false(isPermissive('MIT AND GPL-3.0'))
  t.false(isPermissive('GPL-3.0 OR LGPL-3.0'))
  t.false(isPermissive(undefined))
})

test('tools that are installed apart have a lock file of their own, which is looked at too', (t) => {
  const folder = temporaryFolder(t)
  write(folder, 'package-lock.json', '{}')
  write(folder, '.ci/api/package-lock.json', '{}')
  write(folder, '.ci/api/package.json', '{}')
  write(folder, 'test/install/tools/package-lock.json', '{}')
  write(folder, 'node_modules/a/package-lock.json', '{}')
  t.deepEqual(lockFiles(folder), [
    '.ci/api/package-lock.json',
    'package-lock.json',
    'test/install/tools/package-lock.json',
  ])
  t.true(lockFiles(fileURLToPath(new URL('../..', import.meta.url))).includes('.ci/api/package-lock.json'))
})

test('a locked package is known by its content, or comes inside another one', (t) => {
  t.deepEqual(
    unpinned({
      packages: {
        '': {},
        'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
        'node_modules/a/node_modules/b': { version: '1.0.0', inBundle: true },
        'node_modules/c': { link: true },
        'node_modules/d': { version: '2.0.0' },
      },
    }),
    ['node_modules/d 2.0.0 has no integrity: any content would be installed'],
  )
})
