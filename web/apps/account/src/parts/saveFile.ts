/** Has the browser save a text as a file. */
export function saveFile(name: string, content: string, type = 'text/plain'): void {
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own hold on the text once it began.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}
