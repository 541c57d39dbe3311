import test from 'ava'
import { parseAllDocuments } from 'yaml'
import { blocks, placeOf } from './blocks.js'

/** A manifest of Kubernetes, of which tests look at what refers to something else. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly clusterIP?: string
    readonly selector?: Readonly<Record<string, unknown>>
    readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly ports?: readonly { readonly port: number }[]
    readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[]
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly Container[]
      }
    }
  }
}

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly env: readonly {
    readonly name: string
    readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
  }[]
  readonly readinessProbe: { readonly httpGet: { readonly port: string } }
  readonly livenessProbe: { readonly tcpSocket: { readonly port: string } }
}

const API: Readonly<Record<string, string>> = {
  Secret: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
}

const texts = blocks.filter(({ file, language }) => file.endsWith('on-kubernetes.md') && language === 'yaml')
const documents = texts.flatMap((block) => parseAllDocuments(block.text, { uniqueKeys: true }))
const manifests = documents.map((document) => document.toJS() as Manifest)
const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)

const pods = of('Deployment').flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template]))
const containers = pods.flatMap(({ spec }) => spec.containers)

/** Whether some Pods have all these labels. */
function someHave(labels: Readonly<Record<string, unknown>> = {}): boolean {
  return pods.some(({ metadata }) =>
    Object.entries(labels).every(([name, value]) => metadata.labels[name] === value),
  )
}

test('manifests are YAML of kinds that Kubernetes has', (t) => {
  t.true(manifests.length > 3)
  t.deepEqual(
    documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
    [],
    texts.map(placeOf).join(', '),
  )
  for (const { kind, apiVersion, metadata } of manifests) {
    t.is(apiVersion, API[kind] ?? 'none that the test knows', kind)
    t.regex(metadata.name, /^[a-z0-9-]+$/)
  }
})

test('what a manifest refers to is in another', (t) => {
  const numbers = containers.flatMap(({ ports }) => ports.map(({ containerPort }) => containerPort))
  for (const { spec, metadata } of of('Service')) {
    t.is(spec?.clusterIP, 'None', `${metadata.name} has one address: there is nothing to pick from`)
    t.true(someHave(spec?.selector), metadata.name)
    for (const { port } of spec?.ports ?? []) t.true(numbers.includes(port), `${metadata.name}: ${port}`)
  }
  for (const { spec, metadata } of of('NetworkPolicy')) {
    t.true(someHave(spec?.podSelector?.matchLabels), metadata.name)
    for (const { ports } of spec?.ingress ?? []) {
      for (const { port } of ports) t.true(numbers.includes(port), `${metadata.name}: ${port}`)
    }
  }
  for (const { spec } of of('Deployment'))
    t.true(someHave(spec?.selector?.matchLabels as Record<string, string> | undefined))
  for (const { ports, env, readinessProbe, livenessProbe } of containers) {
    const names = ports.map(({ name }) => name)
    t.true(names.includes(readinessProbe.httpGet.port))
    t.true(names.includes(livenessProbe.tcpSocket.port))
    for (const { valueFrom } of env) {
      const { name, key } = valueFrom.secretKeyRef
      const secret = of('Secret').find(({ metadata }) => metadata.name === name)
      t.truthy(secret?.stringData?.[key], `${name}: ${key}`)
    }
  }
})

test('Pods have longer to end than they drain', (t) => {
  const drain = blocks.find(
    ({ file, text }) => file.endsWith('on-kubernetes.md') && text.includes('agent.drain()'),
  )
  const [, ms = ''] = /setTimeout\(resolve, ([\d_]+)\)/.exec(drain?.text ?? '') ?? []
  for (const { spec } of pods) {
    t.true(spec.terminationGracePeriodSeconds * 1_000 > Number(ms.replaceAll('_', '')))
  }
})
