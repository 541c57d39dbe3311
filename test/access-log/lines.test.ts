import test from 'ava'
import { timeOfLine } from '../../dist/access-log/line.js'

const OCTOBER = Date.UTC(2000, 9, 10, 20, 55, 36)
const common = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326'

const good = [
  { what: 'the common format', line: common, at: OCTOBER },
  {
    what: 'the combined format',
    line: `${common} "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"`,
    at: OCTOBER,
  },
  { what: 'a virtual host before', line: `www.example.com:443 ${common}`, at: OCTOBER },
  { what: 'more fields after', line: `${common} "-" "curl/8" 0.003 upstream=10.0.0.1`, at: OCTOBER },
  {
    what: 'a user with a space in its name',
    line: common.replace('frank', 'frank the tank'),
    at: OCTOBER,
  },
  { what: 'an escaped quote in the request', line: common.replace('gif', 'g\\"f'), at: OCTOBER },
  { what: 'neither status nor size', line: common.replace('200 2326', '- -'), at: OCTOBER },
  {
    what: 'a fraction of a second',
    line: common.replace(':36 ', ':36.250 '),
    at: OCTOBER + 250,
  },
  {
    what: 'a leap second',
    line: common.replace('10/Oct/2000:13:55:36 -0700', '31/Dec/2016:23:59:60 +0000'),
    at: Date.UTC(2017, 0, 1),
  },
  {
    what: 'a zone of half an hour',
    line: common.replace('13:55:36 -0700', '02:25:36 +0530').replace('10/Oct', '11/Oct'),
    at: OCTOBER,
  },
  { what: 'JSON with ISO 8601', line: '{"time":"2000-10-10T13:55:36-07:00","status":200}', at: OCTOBER },
  { what: 'JSON with ISO 8601 in UTC', line: '{"timestamp":"2000-10-10T20:55:36.5Z"}', at: OCTOBER + 500 },
  { what: 'JSON without a zone: UTC', line: ' {"@timestamp":"2000-10-10 20:55:36,5"}', at: OCTOBER + 500 },
  { what: 'JSON with seconds', line: '{"ts":971211336.25}', at: OCTOBER + 250 },
  { what: 'JSON with seconds as text, as of nginx', line: '{"msec":"971211336.250"}', at: OCTOBER + 250 },
  { what: 'JSON with milliseconds', line: '{"time":971211336250}', at: OCTOBER + 250 },
  { what: 'JSON with microseconds', line: '{"time":971211336250000}', at: OCTOBER + 250 },
  { what: 'JSON with nanoseconds', line: '{"time":971211336250000000}', at: OCTOBER + 250 },
  {
    what: "JSON with the common format's time",
    line: '{"time_local":"10/Oct/2000:13:55:36 -0700"}',
    at: OCTOBER,
  },
  {
    what: 'JSON with a field that was named',
    line: '{"time":1,"begun":971211336}',
    field: 'begun',
    at: OCTOBER,
  },
] as const

for (const { what, line, at, ...rest } of good) {
  test(`a line is read: ${what}`, (t) => {
    t.deepEqual(timeOfLine(line, 'field' in rest ? rest.field : undefined), { at })
  })
}

const bad = [
  { what: 'text', line: 'Server started.', says: 'there is no [time] before a "request"' },
  { what: 'no user', line: common.replace('127.0.0.1 - frank', 'frank'), says: /no host, identity and user/ },
  { what: 'no status', line: common.replace('200 2326', ''), says: /not followed by a status/ },
  { what: 'a request that is cut off', line: common.slice(0, 70), says: /not followed by a status/ },
  {
    what: 'another form of time',
    line: common.replace('10/Oct/', 'Oct 10 '),
    says: /not like 10\/Oct\/2000/,
  },
  {
    what: 'a day that does not exist',
    line: common.replace('10/Oct', '31/Feb'),
    says: 'there is no such day',
  },
  { what: 'a month that does not exist', line: common.replace('Oct', 'Okt'), says: 'there is no such day' },
  { what: 'the hour 24', line: common.replace(':13:', ':24:'), says: 'there is no such time of day' },
  { what: 'a zone of 99 hours', line: common.replace('-0700', '-9900'), says: 'there is no such time zone' },
  { what: 'the year 99', line: common.replace('2000', '0099'), says: /not between 1970 and 9999/ },
  { what: 'half of JSON', line: '{"time":"2000-10-10T13', says: 'it is not JSON' },
  { what: 'JSON without a time', line: '{"status":200}', says: /no field for the time/ },
  {
    what: 'JSON without the named field',
    line: '{"time":1}',
    field: 'begun',
    says: 'it has no field "begun"',
  },
  { what: 'JSON with an empty time', line: '{"time":null}', says: /neither text nor a number/ },
  { what: 'JSON with a time before 1970', line: '{"time":-5}', says: /not between 1970 and 9999/ },
  { what: 'JSON with a number beyond all', line: '{"time":1e999}', says: /not a finite number/ },
  { what: 'JSON with words for a time', line: '{"time":"yesterday"}', says: /not like 2000-10-10T/ },
  {
    what: 'more than 64 KiB',
    line: `${common} ${'x'.repeat(65_536)}`,
    says: /longer than 65,536 characters/,
  },
] as const

for (const { what, line, says, ...rest } of bad) {
  test(`a line is refused: ${what}`, (t) => {
    const time = timeOfLine(line, 'field' in rest ? rest.field : undefined)
    t.true('wrong' in time)
    if (!('wrong' in time)) return
    if (typeof says === 'string') t.is(time.wrong, says)
    else t.regex(time.wrong, says)
  })
}
