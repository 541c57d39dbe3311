// npm runs this before it packs or publishes the clone itself, which is not what users install.
console.error(
  'The clone is not a package. `npm run package` stages what is published, packs it to npm/ and checks it: publish the tarballs.',
)
process.exitCode = 1
