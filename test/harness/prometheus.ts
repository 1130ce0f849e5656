import { spawnSync } from 'node:child_process'
import { leftOut, works } from './left-out.ts'

/** Units that are not base units of Prometheus, and abbreviations. */
const otherUnits =
  /(^|_)(ms|us|ns|s|sec|secs|mins|hr|hrs|hours?|minutes?|days?|milli\w*|micro\w*|nano\w*|kb|mb|gb|kilobytes|megabytes|gigabytes|bits?|percent)(_|$)/
const types = /_(counter|gauge|histogram|summary)(_|$)/
const camelCase = /[a-z][A-Z]/

/**
 * Violations of the conventions of Prometheus ("Metric and label naming") on a page of metrics, as
 * `promtool check metrics` applies them.
 */
export function faultsOfMetrics(page: string): string[] {
  const helps = new Set([...page.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name))
  const declared = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }))
  const twice = declared.filter(
    ({ name }, at) => declared.findIndex((one) => one.name === name) < at,
  )
  const labels = new Set([...page.matchAll(/[{,]([A-Za-z_]\w*)="/g)].map(([, label = '']) => label))
  return [
    ...declared.flatMap(({ name, type }) => faultsOfName(name, type)),
    ...declared.filter(({ name }) => !helps.has(name)).map(({ name }) => `${name} has no HELP`),
    ...twice.map(({ name }) => `${name} is declared twice`),
    ...[...labels].filter((label) => camelCase.test(label)).map((label) => `label ${label}`),
  ]
}

function faultsOfName(name: string, type: string): string[] {
  const isCounter = type === 'counter'
  const checks: readonly (readonly [boolean, string])[] = [
    [isCounter !== name.endsWith('_total'), `${type} and "_total" do not belong together`],
    [!isCounter && /_(count|sum|bucket)$/.test(name), 'has an ending of histograms'],
    [otherUnits.test(name), 'is not in a base unit, or abbreviates it'],
    [types.test(name), 'names its type'],
    [camelCase.test(name) || name.includes(':'), 'is not in snake_case'],
  ]
  return checks.filter(([isWrong]) => isWrong).map(([, fault]) => `${name}: ${fault}`)
}

export const noPromtool = leftOut(
  works('promtool', '--version')
    ? undefined
    : 'promtool is not installed (on Debian: apt-get install prometheus)',
)

/** The output of `promtool check metrics` for the page; empty if promtool is not installed. */
export function promtoolSays(page: string): string {
  if (noPromtool !== undefined) return ''
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: page,
    encoding: 'utf8',
  })
  return stdout + stderr
}
