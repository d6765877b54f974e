"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  const picture = (number) =>
    "data:image/svg+xml;charset=utf-8," + encodeURIComponent(data.pictures[number]);

  // Shows one run, state by state. All names and values are set as text, never as markup.
  const stepper = (place, run) => {
    const group = place.querySelector(".stepper");
    const slider = group.querySelector("input");
    const status = group.querySelector(".status");
    const image = group.querySelector("img");
    const steps = [...place.querySelectorAll(".actions li")];
    const last = run.states.length - 1;
    let at = 0;

    const cells = run.variables.map((name) => {
      const row = group.querySelector("tbody").insertRow();
      const head = document.createElement("th");
      const code = document.createElement("code");
      head.scope = "row";
      code.textContent = name;
      head.append(code);
      row.append(head);
      const cell = row.insertCell();
      cell.className = "num";
      return { row, cell };
    });

    const words = () => {
      const number = run.first + at;
      if (at === 0) {
        return number ? `After ${number} of ${run.total} steps` : "Start";
      }
      const fault = at - 1 === run.fault ? ", the fault" : "";
      const end = number === run.total ? ". Fail." : "";
      return `After step ${number} of ${run.total}: ${run.actions[at - 1]}${fault}${end}`;
    };

    const changes = () => {
      const earlier = run.states[Math.max(at - 1, 0)];
      const texts = run.variables.flatMap((name, i) =>
        run.states[at][i] === earlier[i] ? [] : [`${name} ${earlier[i]} → ${run.states[at][i]}`]);
      return at === 0 ? "" : texts.join(", ") || "nothing changed";
    };

    const show = (step) => {
      at = Math.min(Math.max(step, 0), last);
      const earlier = run.states[Math.max(at - 1, 0)];
      cells.forEach(({ row, cell }, i) => {
        cell.textContent = run.states[at][i];
        row.className = run.states[at][i] === earlier[i] ? "" : "is-changed";
      });
      if (run.pictures) {
        image.src = picture(run.pictures[at]);
        image.alt = words();
        image.hidden = false;
      }
      slider.value = at;
      status.textContent = words();
      group.querySelector(".changes").textContent = changes();
      status.classList.toggle("bad-text", at - 1 === run.fault || run.first + at === run.total);
      steps.forEach((item, i) => item.classList.toggle("is-now", i === at - 1));
      group.querySelector("[data-go=first]").disabled = at === 0;
      group.querySelector("[data-go=previous]").disabled = at === 0;
      group.querySelector("[data-go=next]").disabled = at === last;
      group.querySelector("[data-go=last]").disabled = at === last;
    };

    const moves = { first: () => 0, previous: () => at - 1, next: () => at + 1, last: () => last };
    const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
    group.addEventListener("click", (event) => {
      const button = event.target.closest("[data-go]");
      if (button) show(moves[button.dataset.go]());
    });
    slider.addEventListener("input", () => show(Number(slider.value)));
    group.addEventListener("keydown", (event) => {
      if (event.target !== slider && keys[event.key]) {
        show(moves[keys[event.key]]());
        event.preventDefault();
      }
    });
    steps.forEach((item, i) => item.addEventListener("click", () => show(i + 1)));
    place.classList.add("is-live");
    group.hidden = false;
    show(Math.max(run.fault, 0));
  };

  for (const place of document.querySelectorAll("[data-run]")) {
    stepper(place, data.runs[Number(place.dataset.run)]);
  }
})();
