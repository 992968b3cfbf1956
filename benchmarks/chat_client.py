"""How many calls a second our chat client makes with 100 of them under way, against a bare asyncio client.

Both ask the same server in the same run, by turns, and read every answer as JSON. The server runs in a process of its
own and takes a fixed time for each answer, as a model does; the bare client writes requests by hand, checks nothing and
tries nothing again. Ours goes through the adapter: checks, deadlines, retries, counts of tokens. Prints the ratio; the
target is more than 80 %.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import threading
import time
from multiprocessing.connection import Connection

TARGET = 0.80
MESSAGES = [
    {"role": "user", "content": "I take warfarin 5 mg daily and I am allergic to penicillin. " * 20},
    {"role": "assistant", "content": "Thank you, I have noted this. " * 20},
    {"role": "user", "content": "What should I avoid?"},
]
ANSWER = json.dumps(
    {
        "choices": [{"message": {"role": "assistant", "content": "Avoid penicillin. " * 40}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 160, "total_tokens": 560},
        "system_fingerprint": "fp",
    }
).encode()


def serve(told: Connection, seconds: float) -> None:
    """A server that reads each request whole and answers it after a while."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(ANSWER)}\r\n\r\n".encode()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                lines = await reader.readuntil(b"\r\n\r\n")
                size = next(
                    int(line.split(b":")[1]) for line in lines.lower().split(b"\r\n") if line.startswith(b"content-len")
                )
                await reader.readexactly(size)
                await asyncio.sleep(seconds)
                writer.write(head + ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def listen() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=512)
        told.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    asyncio.run(listen())


def ours(port: int, calls: int, at_once: int) -> float:
    """Calls a second through the adapter, from as many threads as there are calls under way."""
    from workup.systems.chat.openai_chat import OpenAiChat

    chat = OpenAiChat(name="chat", base_url=f"http://127.0.0.1:{port}/v1", model="m", concurrency=at_once)
    left = iter(range(calls))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if next(left, None) is None:
                    return
            assert chat.reply(MESSAGES, max_tokens=200, seed=1).content

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.monotonic() - begun
    assert chat.timings["failed"] == 0
    return calls / taken


def bare(port: int, calls: int, at_once: int) -> float:
    """Calls a second of a client that does nothing but ask."""
    body = json.dumps({"model": "m", "messages": MESSAGES, "max_tokens": 200, "seed": 1})

    async def work(left: list[int]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while left[0] > 0:
            left[0] -= 1
            sent = json.dumps(json.loads(body)).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
            writer.write(head.encode() + sent)
            answer = await reader.readuntil(b"\r\n\r\n")
            size = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            assert json.loads(await reader.readexactly(size))["choices"][0]["message"]["content"]
        writer.close()

    async def all_of_it() -> None:
        left = [calls]
        await asyncio.gather(*(work(left) for _ in range(at_once)))

    begun = time.monotonic()
    asyncio.run(all_of_it())
    return calls / (time.monotonic() - begun)


def main() -> None:
    """Measure both sides by turns and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.2, help="time that the server takes for an answer")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    hear, tell = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.Process(target=serve, args=(tell, options.seconds), daemon=True)
    server.start()
    port = hear.recv()
    rounds = []
    for number in range(options.rounds):
        mine, theirs = (one(port, options.calls, options.at_once) for one in (ours, bare))
        rounds.append(mine / theirs)
        print(
            f"round {number + 1}: ours {mine:8,.0f} calls/s   bare asyncio {theirs:8,.0f} calls/s   {mine / theirs:.1%}"
        )
    server.terminate()
    ratio = statistics.median(rounds)
    print(
        f"with {options.at_once} calls under way, of {options.seconds:g} s each: {ratio:.1%} of a bare asyncio client"
    )
    sys.exit(0 if ratio > TARGET else 1)


if __name__ == "__main__":
    main()
