import { mixed, rgbOf } from './color.ts'
import { dotsOf, letterSize } from './letters.ts'
import { type Canvas, canvas, dot, png } from './png.ts'

/** What previews of links ask for. */
export const ogSize = { width: 1200, height: 630 } as const

const margin = 90
const stripe = 100
const awningHeight = 96
const greatestPitch = 18
const maxLines = 3

/**
 * The picture that previews of links show: the store's name on its colour, under the awning of a
 * kiosk. It is drawn here, so that it is always the operator's own and nothing is asked of anybody.
 *
 * @param color `#rrggbb`, dark enough for white letters
 */
export function ogImage(name: string, color: string): Buffer {
  const picture = canvas(ogSize.width, ogSize.height)
  ground(picture, color)
  awning(picture, color)
  words(picture, name)
  return png(picture)
}

function ground(picture: Canvas, color: string): void {
  const [top, bottom] = [rgbOf(color), rgbOf(mixed(color, '#000000', 0.45))]
  for (let y = 0; y < picture.height; y++) {
    const share = y / picture.height
    const row = top.map((part, at) => part + ((bottom[at] as number) - part) * share)
    for (let x = 0; x < picture.width; x++) dot(picture, [x, y], row)
  }
}

/** Stripes in two tones, each with a round end. */
function awning(picture: Canvas, color: string): void {
  const tones = [rgbOf('#fbf7ec'), rgbOf(mixed(color, '#ffffff', 0.45))]
  const radius = stripe / 2
  for (let x = 0; x < picture.width; x++) {
    const tone = tones[Math.floor(x / stripe) % 2] as readonly number[]
    const fromMiddle = (x % stripe) - radius + 0.5
    const end = awningHeight + Math.sqrt(Math.max(0, radius * radius - fromMiddle * fromMiddle))
    for (let y = 0; y < Math.ceil(end); y++) dot(picture, [x, y], tone, Math.min(1, end - y))
  }
}

function words(picture: Canvas, name: string): void {
  const lines = linesOf(name)
  const columns = Math.max(1, ...lines.map((line) => dotsOf(line)[0]?.length ?? 0))
  const room = picture.width - 2 * margin
  const pitch = Math.min(greatestPitch, Math.max(3, Math.floor(room / columns)))
  const lineHeight = (letterSize.lines + 3) * pitch
  const middle = (picture.height + awningHeight + stripe / 2) / 2
  const top = Math.round(middle - (lines.length * lineHeight - 3 * pitch) / 2)
  for (const [at, line] of lines.entries()) {
    const most = Math.floor(room / pitch)
    writeDots(
      picture,
      dotsOf(line).map((bits) => bits.slice(0, most)),
      {
        pitch,
        left: margin,
        top: top + at * lineHeight,
      },
    )
  }
}

function writeDots(
  picture: Canvas,
  rows: readonly (readonly boolean[])[],
  { pitch, left, top }: { readonly pitch: number; readonly left: number; readonly top: number },
): void {
  for (const [line, bits] of rows.entries()) {
    for (const [column, isLit] of bits.entries()) {
      if (isLit) disc(picture, [left + column * pitch, top + line * pitch], pitch)
    }
  }
}

/** A round dot with a soft edge. */
function disc(picture: Canvas, [left, top]: readonly [number, number], pitch: number): void {
  const radius = pitch * 0.46
  const center = pitch / 2 - 0.5
  for (let y = 0; y < pitch; y++) {
    for (let x = 0; x < pitch; x++) {
      const cover = radius + 0.5 - Math.hypot(x - center, y - center)
      if (cover > 0) dot(picture, [left + x, top + y], [255, 255, 255], Math.min(1, cover))
    }
  }
}

/** The name in lines of whole words, short enough to be read from afar. */
function linesOf(name: string): string[] {
  const lines: string[] = []
  for (const word of name.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1)
    const isRoom = last !== undefined && last.length + word.length < 14
    if (isRoom || lines.length === maxLines) lines[lines.length - 1] = `${last ?? ''} ${word}`
    else lines.push(word)
  }
  return lines
}
