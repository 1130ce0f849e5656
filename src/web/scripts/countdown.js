// Counts the time to pay down, near its end only: before, it would only hurry.
const nearMs = 5 * 60_000
const spokenMinutes = [5, 2, 1]

const spoken = document.createElement('p')
spoken.className = 'hidden'
spoken.setAttribute('role', 'status')

let timer

// The clock of the store counts: it is told once, and goes on from there by this page's own clock.
function count() {
  clearInterval(timer)
  const line = document.querySelector('[data-ends]')
  if (!line) return
  const ends = Date.parse(line.dataset.ends)
  const told = Date.parse(line.dataset.now)
  const since = performance.now()
  let lastSpoken
  const tick = () => {
    const leftMs = ends - told - (performance.now() - since)
    const left = line.querySelector('.left')
    if (leftMs > nearMs) {
      left.textContent = ''
      return
    }
    if (leftMs <= 0) {
      clearInterval(timer)
      left.textContent = line.dataset.over
      spoken.textContent = line.dataset.over
      return
    }
    const seconds = Math.ceil(leftMs / 1000)
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    left.textContent = line.dataset.leftText.replace('{time}', clock)
    const minutes = spokenMinutes.findLast((each) => leftMs <= each * 60_000)
    if (minutes !== lastSpoken) spoken.textContent = line.dataset[`left${minutes}`]
    lastSpoken = minutes
  }
  timer = setInterval(tick, 1000)
  tick()
}

document.body.append(spoken)
document.addEventListener('live:swapped', count)
count()
