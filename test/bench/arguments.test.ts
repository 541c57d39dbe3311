import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { InvalidArgumentError } from 'commander'
import { fileToWrite } from '../../bench/arguments.js'

test('a file that is written in the end is refused at the start where its folder is not there', (t) => {
  const file = join(tmpdir(), 'idlest-results.json')
  t.is(fileToWrite(file), file)
  t.is(fileToWrite('results.json'), 'results.json')
  for (const path of [
    '',
    tmpdir(),
    join(tmpdir(), 'idlest-no-such-folder', 'results.json'),
    join(process.execPath, 'x'),
  ])
    t.throws(() => fileToWrite(path), { instanceOf: InvalidArgumentError }, path)
})
