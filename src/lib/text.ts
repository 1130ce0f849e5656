/** Lower case without accents, so that text compares as people mean it. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþħı]/g, (letter) => plain[letter] ?? letter)
}

/** Letters that no normal form takes apart, as people without them type them. */
const plain: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
}

/** The words of a text, folded: runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The lower-case name with hyphens: "South Asia" is `south-asia`. */
export function slugOf(name: string): string {
  return wordsOf(name).join('-')
}
