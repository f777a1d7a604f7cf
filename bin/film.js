// Draws a pointer where the mouse is: a browser without a screen shows none, and who watches the film has to see what is clicked.

addEventListener("mousemove", ({ clientX, clientY }) => {
  let hand = document.getElementById("hand");
  if (!hand) {
    hand = document.body.appendChild(document.createElement("div"));
    hand.id = "hand";
    hand.style.cssText =
      "position: fixed; z-index: 9999999; pointer-events: none; width: 18px; height: 18px; margin: -9px; " +
      "border-radius: 9px; background: #b04a0866; border: 2px solid #b04a08;";
  }
  hand.style.left = `${clientX}px`;
  hand.style.top = `${clientY}px`;
});
