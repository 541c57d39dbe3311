// `npm run bench:compare -- base.json head.json`: compares two results of `npm run bench -- --json`.
import { Command } from 'commander'
import { fileToWrite } from '../arguments.js'
import { readResults } from '../results.js'
import { type Compared, compareCases, comparedOf } from './compare.js'
import { type Judging, judge, thresholdOf, thresholdOption } from './judge.js'

const command = new Command('bench:compare')
  .description(
    'Compares two results of the bench by their ratios to the floor. Exits with 1 where a case got slower.',
  )
  .argument('<base>', 'a file by `npm run bench -- --json`, from before')
  .argument('<head>', 'the same, from after')
  .option(...thresholdOption)
  .option('--markdown <file>', 'writes the table to a file too', fileToWrite)
  // 1 is for what got slower.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()

const [base = '', head = ''] = command.args
const options = command.opts<Judging>()

function casesOf(file: string): Compared[] {
  const results = readResults(file)
  if (results !== undefined) return comparedOf(results.cases)
  return command.error(`There is no ${file}.`, { exitCode: 2 })
}

judge(compareCases(casesOf(base), casesOf(head), thresholdOf(options)), options)
