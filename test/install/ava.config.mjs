// As the project's own tests, but for the files, and for the patience that package managers need.
import ava from '../../.ci/tests/ava.config.mjs'

export default { ...ava, files: ['target/tests/test/install/*.install.js'], timeout: '10m', serial: true }
