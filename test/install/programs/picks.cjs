// Picks, and says by which engine, where its addon is from, and what Node.js was warned of.
const { createBalancer, select } = require('idlest')

const warnings = []
process.on('warning', ({ code, message }) => warnings.push({ code, message }))
const balancer = createBalancer({ nodes: ['a', 'b'], poll: false })
const picked = [balancer.select(), select(['a', 'b'])]
const { engine } = balancer
setImmediate(() => {
  const addons = process.report.getReport().sharedObjects.filter((file) => file.endsWith('.node'))
  console.log(JSON.stringify({ engine, addons, picked, warnings }))
})
