"""The native half of the thread pool, as LLVM IR: handing out units of work without the interpreter.

A *plan* is an immutable array of words: the number of steps, whether all of it stays on the calling thread, then function,
units and grain of each step. `execute` runs a plan on the calling thread and on whatever workers join in; its counters
live on its stack, so a worker may touch them only between entering (`inside` + 1, then `open` still set) and leaving.
"""

from __future__ import annotations

import platform

#: Words of the control block; each that is written often has a cache line of its own.
BUSY, GENERATION, SLEEPERS, OPEN, INSIDE, JOB, LIMIT = 0, 8, 16, 24, 32, 40, 48
MUTEX, CONDITION, LOCK, UNLOCK, WAIT, BROADCAST, YIELD = 56, 57, 58, 59, 60, 61, 62
CONTROL_WORDS = 64

#: Rounds a worker spins for before it sleeps, and a finished thread before it gives up its time slice.
_SPIN, _PATIENCE = 1500, 4000

_TEXT = """
define private ptr @word(ptr %control, i64 %index) alwaysinline {
  %p = getelementptr i64, ptr %control, i64 %index
  ret ptr %p
}
define private i64 @read(ptr %control, i64 %index) alwaysinline {
  %p = getelementptr i64, ptr %control, i64 %index
  %v = load atomic i64, ptr %p seq_cst, align 8
  ret i64 %v
}
define private void @call_with(ptr %control, i64 %function, i64 %first, i64 %second) alwaysinline {
  %fp = getelementptr i64, ptr %control, i64 %function
  %f = load ptr, ptr %fp
  %ap = getelementptr i64, ptr %control, i64 %first
  %a = load ptr, ptr %ap
  %bp = getelementptr i64, ptr %control, i64 %second
  %b = load ptr, ptr %bp
  %ignored = call i32 %f(ptr %a, ptr %b)
  ret void
}
define private void @pause() alwaysinline {
  PAUSE
  ret void
}

define private void @alone(ptr %words, ptr %plan) {
entry:
  %steps = load i64, ptr %plan
  br label %head
head:
  %s = phi i64 [0, %entry], [%s1, %run]
  %c = icmp ult i64 %s, %steps
  br i1 %c, label %run, label %done
run:
  %at = mul i64 %s, 3
  %fi = add i64 %at, 2
  %fp = getelementptr i64, ptr %plan, i64 %fi
  %f = load ptr, ptr %fp
  %up = getelementptr i64, ptr %fp, i64 1
  %u = load i64, ptr %up
  call void %f(ptr %words, i64 0, i64 %u)
  %s1 = add i64 %s, 1
  br label %head
done:
  ret void
}

define private void @take_part(ptr %control, ptr %words, ptr %plan, ptr %counters, i1 %caller) {
entry:
  %steps = load i64, ptr %plan
  %last = sub i64 %steps, 1
  br label %head
head:
  %s = phi i64 [0, %entry], [%s1, %next]
  %c = icmp ult i64 %s, %steps
  br i1 %c, label %step, label %done
step:
  %at = mul i64 %s, 3
  %fi = add i64 %at, 2
  %fp = getelementptr i64, ptr %plan, i64 %fi
  %f = load ptr, ptr %fp
  %up = getelementptr i64, ptr %fp, i64 1
  %u = load i64, ptr %up
  %gp = getelementptr i64, ptr %fp, i64 2
  %g = load i64, ptr %gp
  %line = mul i64 %s, 16
  %taken = getelementptr i64, ptr %counters, i64 %line
  %finished = getelementptr i64, ptr %taken, i64 8
  br label %take
take:
  %b = atomicrmw add ptr %taken, i64 %g seq_cst
  %more = icmp slt i64 %b, %u
  br i1 %more, label %work, label %finish
work:
  %e0 = add i64 %b, %g
  %over = icmp slt i64 %u, %e0
  %e = select i1 %over, i64 %u, i64 %e0
  call void %f(ptr %words, i64 %b, i64 %e)
  %n = sub i64 %e, %b
  %before = atomicrmw add ptr %finished, i64 %n seq_cst
  br label %take
finish:
  %islast = icmp eq i64 %s, %last
  %notcaller = xor i1 %caller, true
  %leave = and i1 %islast, %notcaller
  br i1 %leave, label %done, label %wait
wait:
  %spun = phi i64 [0, %finish], [%spun1, %again]
  %sofar = load atomic i64, ptr %finished seq_cst, align 8
  %all = icmp sge i64 %sofar, %u
  br i1 %all, label %next, label %idle
idle:
  call void @pause()
  %spun1 = add i64 %spun, 1
  %tired = icmp sgt i64 %spun, PATIENCE
  br i1 %tired, label %yield, label %again
yield:
  call void @call_with(ptr %control, i64 YIELD, i64 YIELD, i64 YIELD)
  br label %again
again:
  br label %wait
next:
  %s1 = add i64 %s, 1
  br label %head
done:
  ret void
}

define void @baracuda_execute(ptr %control, ptr %words, ptr %plan) nounwind {
entry:
  %sp = getelementptr i64, ptr %plan, i64 1
  %serial = load i64, ptr %sp
  %isserial = icmp ne i64 %serial, 0
  br i1 %isserial, label %own, label %parallel
parallel:
  %limit = call i64 @read(ptr %control, i64 LIMIT)
  %one = icmp sle i64 %limit, 1
  br i1 %one, label %own, label %acquire
acquire:
  %busyp = call ptr @word(ptr %control, i64 BUSY)
  %x = cmpxchg ptr %busyp, i64 0, i64 1 seq_cst seq_cst
  %got = extractvalue {i64, i1} %x, 1
  br i1 %got, label %publish, label %own
publish:
  %steps = load i64, ptr %plan
  %count = mul i64 %steps, 16
  %counters = alloca i64, i64 %count, align 64
  %bytes = mul i64 %steps, 128
  call void @llvm.memset.p0.i64(ptr align 64 %counters, i8 0, i64 %bytes, i1 false)
  %jobp = call ptr @word(ptr %control, i64 JOB)
  store ptr %words, ptr %jobp
  %jobp1 = getelementptr i64, ptr %jobp, i64 1
  store ptr %plan, ptr %jobp1
  %jobp2 = getelementptr i64, ptr %jobp, i64 2
  store ptr %counters, ptr %jobp2
  %openp = call ptr @word(ptr %control, i64 OPEN)
  store atomic i64 1, ptr %openp seq_cst, align 8
  %genp = call ptr @word(ptr %control, i64 GENERATION)
  %oldgen = atomicrmw add ptr %genp, i64 1 seq_cst
  %sleepers = call i64 @read(ptr %control, i64 SLEEPERS)
  %asleep = icmp sgt i64 %sleepers, 0
  br i1 %asleep, label %wake, label %go
wake:
  call void @call_with(ptr %control, i64 LOCK, i64 MUTEX, i64 MUTEX)
  call void @call_with(ptr %control, i64 BROADCAST, i64 CONDITION, i64 CONDITION)
  call void @call_with(ptr %control, i64 UNLOCK, i64 MUTEX, i64 MUTEX)
  br label %go
go:
  call void @take_part(ptr %control, ptr %words, ptr %plan, ptr %counters, i1 true)
  store atomic i64 0, ptr %openp seq_cst, align 8
  br label %drain
drain:
  %inside = call i64 @read(ptr %control, i64 INSIDE)
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %release, label %hold
hold:
  call void @pause()
  br label %drain
release:
  store atomic i64 0, ptr %busyp seq_cst, align 8
  ret void
own:
  call void @alone(ptr %words, ptr %plan)
  ret void
}

define void @baracuda_worker(ptr %control, i64 %number) nounwind {
entry:
  %genp = call ptr @word(ptr %control, i64 GENERATION)
  %sleepp = call ptr @word(ptr %control, i64 SLEEPERS)
  %openp = call ptr @word(ptr %control, i64 OPEN)
  %insidep = call ptr @word(ptr %control, i64 INSIDE)
  %jobp = call ptr @word(ptr %control, i64 JOB)
  %jobp1 = getelementptr i64, ptr %jobp, i64 1
  %jobp2 = getelementptr i64, ptr %jobp, i64 2
  br label %idle
idle:
  %seen = phi i64 [0, %entry], [%gen, %left]
  br label %spin
spin:
  %spun = phi i64 [0, %idle], [%spun1, %still]
  %g = load atomic i64, ptr %genp seq_cst, align 8
  %new = icmp ne i64 %g, %seen
  br i1 %new, label %enter, label %still
still:
  call void @pause()
  %spun1 = add i64 %spun, 1
  %tired = icmp sgt i64 %spun, SPIN
  br i1 %tired, label %sleep, label %spin
sleep:
  call void @call_with(ptr %control, i64 LOCK, i64 MUTEX, i64 MUTEX)
  %s0 = atomicrmw add ptr %sleepp, i64 1 seq_cst
  br label %check
check:
  %g1 = load atomic i64, ptr %genp seq_cst, align 8
  %new1 = icmp ne i64 %g1, %seen
  br i1 %new1, label %awake, label %block
block:
  call void @call_with(ptr %control, i64 WAIT, i64 CONDITION, i64 MUTEX)
  br label %check
awake:
  %s1 = atomicrmw sub ptr %sleepp, i64 1 seq_cst
  call void @call_with(ptr %control, i64 UNLOCK, i64 MUTEX, i64 MUTEX)
  br label %enter
enter:
  %gen = load atomic i64, ptr %genp seq_cst, align 8
  %limit = call i64 @read(ptr %control, i64 LIMIT)
  %allowed = icmp slt i64 %number, %limit
  br i1 %allowed, label %join, label %left
join:
  %i0 = atomicrmw add ptr %insidep, i64 1 seq_cst
  %open = load atomic i64, ptr %openp seq_cst, align 8
  %isopen = icmp ne i64 %open, 0
  br i1 %isopen, label %work, label %out
work:
  %words = load ptr, ptr %jobp
  %plan = load ptr, ptr %jobp1
  %counters = load ptr, ptr %jobp2
  call void @take_part(ptr %control, ptr %words, ptr %plan, ptr %counters, i1 false)
  br label %out
out:
  %i1 = atomicrmw sub ptr %insidep, i64 1 seq_cst
  br label %left
left:
  br label %idle
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def _pause() -> tuple[str, str]:
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        return "call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()"
    if machine in ("arm64", "aarch64"):
        return "call void @llvm.aarch64.hint(i32 1)", "declare void @llvm.aarch64.hint(i32)"
    return "", ""


def scheduler_ir() -> str:
    """The module that defines `baracuda_execute(control, words, plan)` and `baracuda_worker(control, number)`."""
    call, declaration = _pause()
    text = _TEXT.replace("PAUSE", call)
    numbers = {
        "BUSY": BUSY, "GENERATION": GENERATION, "SLEEPERS": SLEEPERS, "OPEN": OPEN, "INSIDE": INSIDE, "JOB": JOB, "LIMIT": LIMIT,
        "MUTEX": MUTEX, "CONDITION": CONDITION, "UNLOCK": UNLOCK, "LOCK": LOCK, "WAIT": WAIT, "BROADCAST": BROADCAST,
        "YIELD": YIELD, "SPIN": _SPIN, "PATIENCE": _PATIENCE,
    }  # fmt: skip
    for name, value in numbers.items():
        text = text.replace(f"i64 {name}", f"i64 {value}").replace(f", {name}", f", {value}")
    return text + declaration
