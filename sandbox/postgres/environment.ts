/**
 * What PostgreSQL's programs see of the environment: nothing of ours, since PGDATA, PGPORT and
 * their like would change what they do. Messages come in English because the launcher reads some.
 */
export function serverEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', ...extra }
}
