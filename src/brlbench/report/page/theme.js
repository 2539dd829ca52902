// The button that switches between light and dark.

function toggleTheme() {
  const { dataset } = document.documentElement;
  const now = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  dataset.theme = now === "dark" ? "light" : "dark";
}

document.getElementById("theme").addEventListener("click", toggleTheme);
