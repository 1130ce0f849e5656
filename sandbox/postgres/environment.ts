/**
 * The environment of PostgreSQL's programs. It has nothing from ours, because variables such as PGDATA and PGPORT would
 * change what they do. Messages are in English, because the launcher reads some of them.
 */
export function serverEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', ...extra }
}
