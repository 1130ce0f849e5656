import { spawnSync } from 'node:child_process'
import { leftOut, works } from './left-out.ts'

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
