// Counts down the time to pay, but only near its end; earlier it would only hurry the buyer.
const nearMs = 5 * 60_000
const spokenMinutes = [5, 2, 1]

const spoken = document.createElement('p')
spoken.className = 'hidden'
spoken.setAttribute('role', 'status')

let timer

// The store's clock counts. The page contains its time, and this script adds the time since then, so a wrong clock
// of the visitor does not matter.
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
