// Tables and code that are wider than the page can be scrolled by keyboard.
new MutationObserver(() => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (!part.hasAttribute("tabindex") && part.scrollWidth > part.clientWidth) {
      part.tabIndex = 0;
    }
  }
}).observe(document.documentElement, { childList: true, subtree: true, attributes: true });

// Material's search is a dialog, and has no name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
