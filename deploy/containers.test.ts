import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import packageJson from '../package.json' with { type: 'json' }
import { stopWithinMs } from '../src/config.ts'
import { commonShape, liveShape, secretVariables } from '../src/environment/environment.ts'
import { works } from '../test/harness/left-out.ts'

const known = ['MODE', 'NODE_ENV', ...Object.keys({ ...commonShape, ...liveShape })]
const longestDrainSeconds = 60
const stopsInSeconds = longestDrainSeconds + stopWithinMs / 1_000

type Model = new (part: never) => { validate(): void }

/** By the group and version that a manifest names. */
async function modelOf(apiVersion: string, kind: string): Promise<Model> {
  const path = `kubernetes-models/${apiVersion}`
  return (await import(/* @vite-ignore */ path))[kind]
}

interface Container {
  readonly image: string
  readonly env: readonly { readonly name: string }[]
}

describe('on Kubernetes', () => {
  const text = readFileSync('deploy/kubernetes/store.yaml', 'utf8')
  const parts = parseAllDocuments(text).map((document) => document.toJS())

  test('there is one of each part', () => {
    const kinds = [
      'Deployment',
      'Service',
      'PodDisruptionBudget',
      'HorizontalPodAutoscaler',
      'CronJob',
    ]
    expect(parts.map(({ kind }) => kind)).toEqual(kinds)
  })

  test.each(parts)('$kind is as its schema says', async (part) => {
    const Model = await modelOf(part.apiVersion, part.kind)
    expect(() => new Model(part as never).validate()).not.toThrow()
    expect(() => new Model({ ...part, spec: 7 } as never).validate()).toThrow()
  })

  test('nodes and jobs know the variables of the store, and every secret is a file', () => {
    const pods = parts.flatMap(
      ({ spec }) => spec.template?.spec ?? spec.jobTemplate?.spec.template.spec ?? [],
    )
    const containers: readonly Container[] = pods.flatMap((pod) => pod.containers)
    expect(containers).toHaveLength(2)
    for (const { image, env } of containers) {
      expect(image).toMatch(`:${packageJson.version}`)
      const plain = env.map(({ name }) => name).filter((name) => !name.endsWith('_FILE'))
      expect(
        plain.filter((name) => !known.includes(name) || secretVariables.includes(name)),
      ).toEqual([])
      const files = env.map(({ name }) => name).filter((name) => name.endsWith('_FILE'))
      expect(files.filter((name) => !secretVariables.includes(name.replace('_FILE', '')))).toEqual(
        [],
      )
    }
    expect(pods[0].terminationGracePeriodSeconds).toBeGreaterThanOrEqual(stopsInSeconds)
  })
})

test('in Compose the store runs read-only, without rights, with secrets as files and time to stop', () => {
  const { services, secrets } = parse(readFileSync('deploy/compose.yml', 'utf8'))
  const { store } = services
  expect(store).toMatchObject({ read_only: true, cap_drop: ['ALL'], user: '10402:10402' })
  expect(store.image).toBe(`kiosk402:${packageJson.version}`)
  const plain = Object.keys(store.environment).filter((name) => !name.endsWith('_FILE'))
  expect(plain.filter((name) => !known.includes(name) || secretVariables.includes(name))).toEqual(
    [],
  )
  for (const name of store.secrets) {
    expect(secretVariables).toContain(name)
    expect(store.environment[`${name}_FILE`]).toBe(`/run/secrets/${name}`)
    expect(secrets[name]).toEqual({ file: `./secrets/${name}` })
  }
  expect(Number.parseInt(store.stop_grace_period, 10)).toBeGreaterThanOrEqual(stopsInSeconds)
})

const base = 'docker.io/library/node:24-bookworm-slim'
/** No test machine needs to reach a registry of images, so this may be left out anywhere. */
const noImage = works('buildah', 'pull', '--quiet', base)
  ? undefined
  : `buildah cannot get ${base} here`
if (noImage) console.warn(`Left out here: ${noImage}`)

test.skipIf(noImage)(
  'the image is built, runs as another user than root, and says whether it is alive',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'kiosk402-image-'))
    const tag = `kiosk402-test:${process.pid}`
    try {
      execFileSync(process.execPath, ['scripts/release.ts', dir], { stdio: 'ignore' })
      const build = ['build', '--format', 'docker', '--file', 'deploy/Containerfile', '--tag', tag]
      execFileSync('buildah', [...build, dir])
      const inspect = ['inspect', '--type', 'image', tag]
      const described = JSON.parse(execFileSync('buildah', inspect, { encoding: 'utf8' }))
      const { User, Healthcheck } = described.Docker.config
      expect([User, Healthcheck.Test[0]]).toEqual(['10402:10402', 'CMD'])
      execFileSync('buildah', ['rmi', tag])
    } finally {
      await rm(dir, { recursive: true })
    }
  },
)
