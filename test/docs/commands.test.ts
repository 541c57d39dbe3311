import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import test from 'ava'
import { Cli } from '../cli/command.js'
import { blocks, commandsOf, commandsWithin, documents, placeOf } from './blocks.js'
import { accessLog, goesOn, leftOut, more, wordsOf } from './commands.js'
import { startLive, TOKEN } from './world.js'

const {
  name: ownName,
  scripts,
  peerDependencies,
} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  name: string
  scripts: Record<string, string>
  peerDependencies: Record<string, string>
}

const scenario = blocks.find(({ file, language }) => file.endsWith('scenarios.md') && language === 'yaml')
const inBlocks = blocks.filter(({ language }) => language === 'sh').flatMap(commandsOf)
const inTexts = documents.flatMap((file) => commandsWithin(file))
const isIdlest = (text: string) => /^(\w+=\S+ )*npx idlest /.test(text)
// Many stand in several places.
const commands = new Map([...inBlocks, ...inTexts].map((command) => [command.text, command]))

/** A folder with what commands read, in which they run, and a browser that only notes what it is to show. */
test.before(() => {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-commands-'))
  writeFileSync(join(folder, 'access.log'), accessLog())
  writeFileSync(join(folder, 'scenario.yaml'), scenario?.text ?? '')
  writeFileSync(join(folder, 'xdg-open'), '#!/bin/sh\nprintf %s "$1" > opened\n', { mode: 0o755 })
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`
  process.chdir(folder)
})

test.after.always(() => {
  const folder = process.cwd()
  process.chdir(tmpdir())
  rmSync(folder, { recursive: true })
})

for (const command of commands.values()) {
  const { text } = command
  const title = `${placeOf(command)}: ${text}`
  if (isIdlest(text)) {
    test.serial(title, async (t) => {
      const words = wordsOf(text, TOKEN, /:9090/.test(text) ? await startLive(t, ['a', 'b']) : '')
      const start = words.indexOf('npx')
      for (const word of words.slice(0, start)) {
        const [name = '', value = ''] = word.split('=')
        process.env[name] = value
        t.teardown(() => {
          delete process.env[name]
        })
      }
      const [name = '', ...args] = words.slice(start + 2)
      const asksForHelp = args.includes('--help')
      const known = asksForHelp ? undefined : goesOn[name]
      const cli = new Cli(name, ...args, ...((asksForHelp ? undefined : more[name]) ?? []))
      t.teardown(() => cli.process.kill('SIGKILL'))
      if (known !== undefined) {
        await cli.line(known.until)
        cli.process.kill('SIGTERM')
        if (known.ending !== undefined) {
          await cli.line(known.ending)
          cli.process.kill('SIGTERM')
        }
      }
      t.is(await cli.ended(), known?.exit ?? 0, cli.stderr)
      const report = args[args.indexOf('--html') + 1]
      if (args.includes('--html')) t.regex(readFileSync(report ?? '', 'utf8'), /^<!doctype html>/i)
    })
  } else {
    test(`${title}: left out, but what it needs is there`, (t) => {
      const known = leftOut.find((one) => one.command.test(text))
      if (known === undefined)
        return t.fail('no test knows it: run it, or say in test/docs/commands.ts why not')
      const [, verb = '', name = ''] = text.split(' ')
      if (verb === 'install' || verb === 'i')
        return t.true(name === ownName || name in peerDependencies, known.because)
      return t.truthy(scripts[verb === 'run' ? name : verb], known.because)
    })
  }
}
