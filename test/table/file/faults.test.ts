import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { ExecutionContext } from 'ava'
import { createBalancer, createTable, OptionError, TableError } from '../../../dist/index.js'
import { VirtualClock } from '../../../dist/simulation/virtual-clock.js'
import { child } from '../../support/child.js'
import { filePath, test } from './processes.js'

function made(): string {
  const file = filePath()
  createTable({ file, maxNodes: 16 })
  return file
}

function patch(file: string, at: number, bytes: Uint8Array): void {
  writeSync(openSync(file, 'r+'), bytes, 0, bytes.length, at)
}

function refused(t: ExecutionContext, file: string, message: RegExp, maxNodes?: number): void {
  const error = t.throws(() => createTable({ file, ...(maxNodes === undefined ? {} : { maxNodes }) }), {
    instanceOf: TableError,
    message,
  })
  t.is(error?.code, 'IDLEST_TABLE')
  t.true(error?.message.includes(JSON.stringify(file)))
}

test('a pipe is refused at once, whether or not somebody has it open', (t) => {
  const file = filePath()
  execFileSync('mkfifo', [file])
  refused(t, file, /./)
  const held = openSync(file, constants.O_RDWR)
  t.teardown(() => closeSync(held))
  refused(t, file, /./)
  t.true(statSync(file).isFIFO())
})

test('a file that is no table is refused, and stays as it is', (t) => {
  for (const content of ['', 'x', 'x'.repeat(100_000)]) {
    const file = filePath()
    writeFileSync(file, content)
    refused(t, file, /not a table/)
    t.is(readFileSync(file, 'utf8'), content)
  }
})

test('a file that was cut short or added to is refused', (t) => {
  for (const size of [20, 4_096, 8_192]) {
    const file = made()
    truncateSync(file, size)
    refused(t, file, /cut short/)
  }
  const file = made()
  truncateSync(file, statSync(file).size + 1)
  refused(t, file, /added to/)
})

test('a file of another version is refused', (t) => {
  const file = made()
  patch(file, 8, Uint8Array.of(9))
  refused(t, file, /made by idlest .* \(format 9\)/)
  // And one whose table alone is of another.
  const other = made()
  patch(other, 4_096 + 4, Uint8Array.of(99))
  refused(t, other, /layout version 99/)
})

test('a file that says what can not be of itself is refused', (t) => {
  for (const at of [12, 16, 21, 24, 32, 40, 47]) {
    const file = made()
    patch(file, at, Uint8Array.of(0xee))
    refused(t, file, /can't be/)
  }
})

test('a file of an earlier boot is begun anew', (t) => {
  const file = made()
  const before = statSync(file).ino
  patch(file, 56, new TextEncoder().encode('00000000'))
  const table = createTable({ file })
  t.is(table.size, 0)
  t.not(statSync(file).ino, before)
  t.is(createTable({ file }).size, 0)
})

test('a file of another time namespace is refused', (t) => {
  const file = made()
  patch(file, 48, Uint8Array.of(1, 2, 3))
  refused(t, file, /another clock/)
})

test('what is no file, or can not be opened or made, is refused', (t) => {
  const folder = filePath()
  mkdirSync(folder)
  refused(t, folder, /directory/)
  refused(t, '/dev/null', /not a regular file/)
  refused(t, `${folder}/missing/table`, /No such file/)
  if (process.getuid?.() !== 0) {
    const file = made()
    chmodSync(file, 0o000)
    refused(t, file, /Permission denied/)
    chmodSync(dirname(file), 0o500)
    t.teardown(() => chmodSync(dirname(file), 0o700))
    refused(t, `${file}-2`, /Permission denied/)
  }
})

test('a file that all users may write is refused', (t) => {
  const file = made()
  chmodSync(file, 0o666)
  refused(t, file, /all users may write it.*0666.*chmod 600/)
  chmodSync(file, 0o660)
  t.is(createTable({ file }).size, 0)
})

test('a link leads to the file, and one that leads nowhere is refused', (t) => {
  const file = made()
  const link = `${file}-link`
  symlinkSync(file, link)
  t.is(createTable({ file: link, maxNodes: 16 }).memory.capacity, 16)
  symlinkSync(`${file}-missing`, `${file}-nowhere`)
  refused(t, `${file}-nowhere`, /link to a file that is not there/)
})

test('maxNodes is the same for all who share a file', (t) => {
  const file = made()
  refused(t, file, /room for 16 nodes, not for 17/, 17)
  t.is(createTable({ file, maxNodes: 16 }).memory.capacity, 16)
  t.is(createTable({ file }).memory.capacity, 16)
})

test('a file has no clock of its own', (t) => {
  t.throws(() => createTable({ file: filePath(), clock: new VirtualClock() }), { instanceOf: OptionError })
})

test('an id that does not fit is refused, and the others stay', (t) => {
  const table = createTable({ file: filePath() })
  const balancer = createBalancer({ nodes: ['a'], table, poll: false })
  for (const id of ['x'.repeat(513), '\u{d800}']) {
    t.throws(() => balancer.add(id), { instanceOf: TableError, message: /512 bytes of UTF-8/ })
  }
  t.true(balancer.add('y'.repeat(512)))
  t.deepEqual(
    [...table.places()].map(({ id }) => id),
    ['a', 'y'.repeat(512)],
  )
})

test('bytes by chance in a table crash nobody', async (t) => {
  const file = filePath()
  const table = createTable({ file, maxNodes: 64 })
  const nodes = Array.from({ length: 20 }, (_, i) => `n${i}`)
  const balancer = createBalancer({ nodes, table, poll: false })
  const first = 4_096 + 128
  const bytes = new Uint8Array(2_000)
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(Math.random() * 256)
    patch(file, first + Math.floor(Math.random() * 60_000), bytes)
    t.true(nodes.includes(balancer.select()))
    balancer.report('n3', { cpu: 5 })
    balancer.acquire().release()
    try {
      createTable({ file })
      balancer.setNodes(nodes.slice(round % 7))
    } catch (error) {
      t.true(error instanceof TableError, String(error))
    }
  }
  await balancer.close()
})

const dist = new URL('../../../dist/index.js', import.meta.url)

function sharing(file: string, then: string, options = ''): string {
  return `
    import { truncateSync, unlinkSync } from 'node:fs'
    import { once } from 'node:events'
    import { createBalancer, createTable } from '${dist}'
    const file = ${JSON.stringify(file)}
    process.removeAllListeners('warning')
    ${then.includes('warned') ? "const warned = once(process, 'warning')" : ''}
    const hold = setInterval(() => {}, 1_000)
    try {
      const table = createTable({ file })
      const balancer = createBalancer({ nodes: ['a', 'b'], table, poll: false ${options} })
      ${then}
      await balancer.close()
    } catch (error) {
      console.log(error.code, error.message)
    }
    clearInterval(hold)
  `
}

for (const size of ['0', '4_096', '8_192']) {
  test(`a file that is cut to ${size} bytes while it is in use crashes nobody, who is warned`, async (t) => {
    const file = filePath()
    const { exit, said } = child(
      t,
      sharing(
        file,
        `balancer.report('a', { cpu: 3 })
        truncateSync(file, ${size})
        for (let i = 0; i < 1_000; i++) balancer.acquire().release()
        balancer.report('b', { cpu: 3 })
        console.log(['a', 'b'].includes(balancer.select()))
        const [{ code, message }] = await warned
        console.log(code, message)
        try { balancer.add('c') } catch (error) { console.log(error.code) }`,
      ),
    )
    t.deepEqual(await exit, [0, null])
    t.regex(said(), /^true\nIDLEST_TABLE .*cut short.*\nIDLEST_TABLE\n$/)
  })
}

test('a process whose file was deleted goes on, and is warned', async (t) => {
  const file = filePath()
  const { exit, said } = child(
    t,
    sharing(
      file,
      `unlinkSync(file)
      const [{ code, message }] = await warned
      console.log(code, message, balancer.add('c'))`,
    ),
  )
  t.deepEqual(await exit, [0, null])
  t.regex(said(), /^IDLEST_TABLE .*deleted or replaced.* true\n$/)
})

test('without the addon there are no tables in files', async (t) => {
  const { exit, said } = child(
    t,
    `process.env.IDLEST_BINDING_PATH = '/nowhere.node'
    const { createTable, EngineError } = await import('${dist}')
    try { createTable({ file: ${JSON.stringify(filePath())} }) } catch (error) {
      console.log(error instanceof EngineError, error.message)
    }`,
  )
  t.deepEqual(await exit, [0, null])
  t.regex(said(), /^true a table in a file .* is mapped by the native addon.*IDLEST_BINDING_PATH/)
})

test('an engine that is forced to be portable has no tables in files', async (t) => {
  const { exit, said } = child(
    t,
    `process.env.IDLEST_ENGINE = 'portable'
    const { createTable, EngineError } = await import('${dist}')
    try { createTable({ file: ${JSON.stringify(filePath())} }) } catch (error) {
      console.log(error instanceof EngineError, error.message)
    }`,
  )
  t.deepEqual(await exit, [0, null])
  t.regex(said(), /^true .*IDLEST_ENGINE=portable/)
})
