// As the project's own tests, but for the files, and for the patience that package managers need.
import { readFileSync } from 'node:fs'

const { ava } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export default { ...ava, files: ['test/install/*.install.ts'], timeout: '10m', serial: true }
