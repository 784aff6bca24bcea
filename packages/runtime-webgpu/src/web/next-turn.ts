/**
 * One turn of the event loop. A WASM run and a graph build block the worker, so without such turns the message that cancels them
 * would be read only after they are done.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    // A message to ourselves queues behind those already sent; `setTimeout` is held back 4 ms when nested.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
