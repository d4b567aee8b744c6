/* A copy of the site on a disk: browsers refuse workers there, and the search needs one. A hidden
   frame of the same page does its work; nothing is fetched from elsewhere, and nothing is
   evaluated, so that the page's Content-Security-Policy holds. Over http this does nothing. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = address;
        script.onload = () => resolve(inside);
        script.onerror = () => reject(new Error(`${address}: can't be read`));
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then((inside) =>
        inside.dispatchEvent(new inside.MessageEvent("message", { data })),
      );
    }
  };
}
