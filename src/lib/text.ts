/** For comparing: lower case, without accents. Vowel signs, as in Hindi or Thai, are no accents. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Script=Inherited}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþħı]/g, (letter) => plain[letter] ?? letter)
}

/** Those that NFKD does not decompose. */
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

export function foldedWords(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []
}

export function slugOf(name: string): string {
  return foldedWords(name).join('-')
}

/** Without invisible signs and with one form for signs that look the same. */
export function oneLine(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
}
