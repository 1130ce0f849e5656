import { rolldown } from 'rolldown'

// A process of its own (bundled-script.ts): writes the script whose path it is given, in one file.
const [input = ''] = process.argv.slice(2)
const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' })
const { output } = await build.generate({ format: 'iife', minify: true })
await build.close()
const [{ code }, ...others] = output
if (others.length > 0) throw new Error(`the script ${input} is more than one file`)
process.stdout.write(code)
