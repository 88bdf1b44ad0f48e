// SPDX-License-Identifier: Apache-2.0
// Browsers start no worker for a page that is opened from a disk. There, this one takes its place for the search: it runs the worker's script
// in a hidden frame of the page.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.loaded = new Promise((resolve) => {
      this.frame.addEventListener("load", () => resolve(this.start(url)), {once: true});
    });
    this.frame.srcdoc = "<!doctype html>";
    document.body.append(this.frame);
  }

  async start(url) {
    const scope = this.frame.contentWindow;
    scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
    const script = scope.document.createElement("script");
    script.src = url;
    const done = new Promise((resolve) => script.addEventListener("load", resolve));
    scope.document.head.append(script);
    await done;
    return scope;
  }

  async postMessage(data) {
    const scope = await this.loaded;
    scope.dispatchEvent(new scope.MessageEvent("message", {data}));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
