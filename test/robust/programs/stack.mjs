// Prints the stack of an error.
import { createBalancer } from '../../../dist/index.js'

try {
  createBalancer({ nodes: ['a'], pol: false })
} catch (error) {
  console.log(error.stack)
}
